"""Reads of requests for a person and of takeovers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.utils import timezone

from conversations.chat.presenters import LineView, RequestView
from conversations.chat.reply_presenters import ReplyView
from conversations.chat.reply_views import reply_view
from conversations.models import Line, PersonRequest, Reply, ReplyOrigin, Takeover, Turn
from conversations.person.models import LineKind, RequestState
from conversations.turns import help_lines


def running(session_id: UUID) -> Takeover | None:
    """Return the takeover that runs in a session, None where the assistant answers."""
    takeovers = Takeover.objects.filter(session_id=session_id, ended_at=None)
    return takeovers.filter(silent_at__gt=timezone.now()).select_related("by").first()


def taken_over(session_id: UUID) -> bool:
    """Whether anybody has or had the conversation of a session."""
    return Takeover.objects.filter(session_id=session_id).exists()


def open_request(session_id: UUID) -> PersonRequest | None:
    """Return the request of a session that waits for a person, None where none does."""
    requests = PersonRequest.objects.filter(session_id=session_id, state=RequestState.OPEN)
    return requests.select_related("about").first()


def request_view(turn: Turn) -> RequestView | None:
    """Return the request that a turn is; None for a question."""
    if not hasattr(turn, "person_request"):
        return None
    request = turn.person_request
    return RequestView(
        state=request.state,
        way=request.way,
        about=request.about.number if request.about is not None else None,
        wanted_from=request.wanted_from,
        wanted_until=request.wanted_until,
    )


def lines(session_id: UUID) -> Mapping[int, tuple[LineView, ...]]:
    """Return the lines of a session, by the number of the turn that they stand after."""
    by_turn: dict[int, tuple[LineView, ...]] = defaultdict(tuple)
    for line, view in line_views(session_id):
        by_turn[line.after] += (view,)
    return by_turn


def _cards(line: Line) -> ReplyView | None:
    """Return the services that were sent with a line, as cards."""
    if line.cards is None:
        return None
    turn = Turn(release_number=line.cards["release"])
    stored = Reply(turn=turn, origin=ReplyOrigin.STAFF, body=line.cards["reply"], marked=[])
    return reply_view(stored, turn)


def line_views(session_id: UUID) -> Sequence[tuple[Line, LineView]]:
    """Return the lines of a session, each as it is shown."""
    stored = list(Line.objects.filter(session_id=session_id).select_related("takeover"))
    ends = [line for line in stored if line.kind == LineKind.LEFT.value]
    moments = [(line.after, line.at) for line in ends]
    in_danger = help_lines.in_danger_at(moments, session_id) if ends else []
    is_read = {line.pk: danger for line, danger in zip(ends, in_danger, strict=True)}
    return [
        (
            line,
            LineView(
                id=str(line.pk),
                kind=line.kind,
                text=line.text,
                at=line.at,
                how=line.takeover.ended if line.pk in is_read else "",
                read=is_read.get(line.pk, False),
                reply=_cards(line),
            ),
        )
        for line in stored
    ]

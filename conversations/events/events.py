"""A session's events: what the JSON socket tells, numbered once and for all.

The rows of turns, stages and replies are the truth. From them follow facts that are only ever
added: a stage ran, it passed, the reply stands. Whoever looks first writes the facts that are not
yet told as the session's next events, under a lock; from then on every reader, in every process,
sees the same frames with the same numbers. docs/decisions/0008-socket-events.md says why.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from conversations import selectors
from conversations.api.reply_serializers import CardSerializer, ReplySerializer
from conversations.api.serializers import ChoiceSerializer
from conversations.chat.presenters import TurnView
from conversations.chat.replies import FactView, ReplyView
from conversations.chat.wording import Words
from conversations.choosing import selectors as choosing
from conversations.choosing.models import ChoiceOutcome
from conversations.events import beside
from conversations.events.beside import Fact
from conversations.models import Attempt, Session, SessionEvent, Stage, Turn
from conversations.person.serializers import RequestSerializer
from conversations.states import (
    DONE_STAGE_STATUSES,
    PENDING_TURN_STATES,
    StageStatus,
    TurnState,
)
from conversations.turns import erasing
from conversations.turns.locking import locked

_STOPPED = frozenset({StageStatus.NEEDS_REVIEW, StageStatus.APPROVED, StageStatus.OVERRIDDEN})


@dataclass(frozen=True, slots=True)
class News:
    """The frames after number ``after``, and whether more is to be expected soon."""

    after: int
    frames: list[dict[str, Any]]
    pending: bool


def news(*, session_id: UUID, after: int) -> News:
    """Return the events after number ``after``, those that nobody has told before included.

    A number beyond the last event that was told counts as that one. Raises
    ``Session.DoesNotExist``, also for a session that was erased.
    """
    after = min(after, _last(session_id))
    _tell(session_id)
    events = SessionEvent.objects.filter(session_id=session_id, number__gt=after)
    pending = [state.value for state in PENDING_TURN_STATES]
    return News(
        after=after,
        frames=[_frame(event) for event in events],
        pending=Turn.objects.filter(session_id=session_id, state__in=pending).exists(),
    )


def tell_error(
    *,
    session_id: UUID,
    code: str,
    words: str,
    client_id: str | None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> int:
    """Add an ``error`` event: a frame that could not be used, or a message that was refused.

    ``more`` are further members, none of them a citizen's words: the help lines of a message that
    tells of danger, where numbers stand that have to be chosen about.

    Returns its number. Raises as :func:`news` does.
    """
    body = {"code": code, "words": words, "client_id": client_id, **more}
    return tell(session_id=session_id, kind="error", body=body)


@transaction.atomic
def tell(*, session_id: UUID, kind: str, body: Mapping[str, Any], turn: Turn | None = None) -> int:
    """Add an event that says what became of a client's frame, as :func:`tell_error` does."""
    _lock(session_id)
    return _append(session_id, [(turn, Fact(f"{kind}:{uuid.uuid4()}", kind, body))])


def help_lines(contacts: Sequence[str]) -> dict[str, Any]:
    """Return the member of an error's frame that somebody in danger is shown, none for nobody."""
    return {"contacts": list(contacts)} if contacts else {}


def _last(session_id: UUID) -> int:
    events = SessionEvent.objects.filter(session_id=session_id)
    return events.aggregate(last=Max("number"))["last"] or 0


def _frame(event: SessionEvent) -> dict[str, Any]:
    turn = str(event.turn_id) if event.turn_id else None
    return {"type": event.kind, "turn": turn, "event": event.number, **event.body}


def _tell(session_id: UUID) -> None:
    _present(Session.objects.all(), session_id)
    if not _untold(session_id, _open_turns(session_id)) and not beside.untold(session_id):
        return
    with transaction.atomic():
        _lock(session_id)
        # A run holds its turn's row at every write: with the rows locked, turns and stages agree.
        turns = _open_turns(session_id).select_for_update(of=("self",))
        # An answer comes before what corrects it.
        _append(session_id, [*_untold(session_id, turns), *beside.untold(session_id)])


def _lock(session_id: UUID) -> None:
    _present(locked(Session.objects.all()), session_id)


def _present(sessions: QuerySet[Session], session_id: UUID) -> None:
    session = sessions.get(pk=session_id)
    if erasing.is_erased(session):
        raise Session.DoesNotExist(str(session_id))


def _open_turns(session_id: UUID) -> QuerySet[Turn]:
    """Return the turns of which not everything has been told."""
    told = SessionEvent.objects.filter(turn=OuterRef("pk"), kind="reply")
    turns = Turn.objects.filter(~Exists(told), session_id=session_id)
    return (
        turns.select_related("client_turn", "choice").prefetch_related("stages").order_by("number")
    )


def _untold(session_id: UUID, turns: Iterable[Turn]) -> list[tuple[Turn | None, Fact]]:
    # The turns first: what is added to them in between is for the next look.
    found = [(turn, fact) for turn in turns for fact in _facts_of(turn)]
    events = SessionEvent.objects.filter(session_id=session_id)
    told = set(events.values_list("key", flat=True)) if found else set()
    return [(turn, fact) for turn, fact in found if fact.key not in told]


def _append(session_id: UUID, facts: Iterable[tuple[Turn | None, Fact]]) -> int:
    """Number the facts from the last event on; returns the last number. Under :func:`_lock`."""
    last = _last(session_id)
    added = SessionEvent.objects.bulk_create(
        SessionEvent(
            session_id=session_id,
            turn=turn,
            number=number,
            kind=fact.kind,
            key=fact.key,
            body=fact.body,
        )
        for number, (turn, fact) in enumerate(facts, start=last + 1)
    )
    return last + len(added)


def _facts_of(turn: Turn) -> list[Fact]:
    view = selectors.turn_view(turn.pk)
    client_id = turn.client_turn.client_id if hasattr(turn, "client_turn") else None
    good = Attempt.objects.filter(stage__turn=turn, findings=[])
    passed = set(good.values_list("stage__contract", "round"))
    return [
        Fact(f"{turn.number}:{fact.key}", fact.kind, fact.body)
        for fact in facts(turn, list(turn.stages.all()), view, client_id, passed)
    ]


def facts(
    turn: Turn,
    stages: list[Stage],
    view: TurnView,
    client_id: str | None,
    passed: Collection[tuple[str, int]] = (),
) -> Iterator[Fact]:
    """Yield everything that there is to tell of a turn as it stands, in order; keys are the turn's.

    ``passed`` are the rounds, by contract, in which an attempt went through the gate. What stands
    later holds what was told earlier: a stage that passed also ran.
    """
    words = view.words
    again = {"replaces": str(view.replaces)} if view.replaces else {}
    received = words.announced["received"]
    yield _step("received", "received", "done", received, client_id=client_id, **again)
    if view.contacts:
        # More of them may be found later: a longer list is told again.
        listed = hashlib.sha256("\0".join(sorted(view.contact_texts)).encode()).hexdigest()[:16]
        yield _step(
            f"contacts:{listed}",
            "contacts",
            "done",
            words.help_now,
            **help_lines(view.contact_texts),
        )
    if view.person:
        body = {"person": dict(RequestSerializer(view.person).data)}
        yield Fact(f"person:{view.person.state}", "person", body)
    rows = {stage.contract: stage for stage in stages}
    shown = [rows[contract] for contract in words.steps if contract in rows]
    for stage in shown:
        yield from _stage_facts(turn, stage, passed, words)
    if view.longer:
        yield _step("longer", "model", "waiting", words.waiting["longer"])
    if turn.unavailable_since:
        since = turn.unavailable_since.isoformat()
        yield _step(f"waiting:{since}", "model", "waiting", words.announced["awaiting_model"])
    if view.choice:
        yield Fact("choice", "choice", {"choice": ChoiceSerializer(view.choice).data})
    stopped = any(stage.status == StageStatus.NEEDS_REVIEW.value for stage in shown)
    if turn.state == TurnState.NEEDS_REVIEW.value and not stopped:
        yield Fact("review:reply", "review", {"words": words.announced["needs_review"]})
    if view.may_help:
        cards = CardSerializer(view.may_help, many=True).data
        yield Fact("may_help", "may_help", {"may_help": list(cards)})
    if view.reply:
        for number, text in enumerate(pieces(view.reply)):
            yield Fact(f"delta:{number}", "delta", {"text": text})
        yield Fact("reply", "reply", {"reply": ReplySerializer(view.reply).data})
    if turn.state == TurnState.CLOSED.value:
        yield _step("closed", "closed", "done", words.closed["title"])


def _passed_on(turn: Turn, stage: Stage, number: int) -> bool:
    """Whether a round that stopped is a person's: not where the citizen is asked instead, or may be
    as long as the turn runs."""
    asked = choosing.choice_of(turn)
    if asked and asked.stage == stage.contract and asked.outcome == ChoiceOutcome.CHOSEN:
        return False
    undecided = stage.status == StageStatus.NEEDS_REVIEW.value and number == stage.round
    return not (undecided and turn.state in (TurnState.RUNNING.value, TurnState.ASKING.value))


def _stage_facts(
    turn: Turn, stage: Stage, passed: Collection[tuple[str, int]], words: Words
) -> Iterator[Fact]:
    told = words.steps[stage.contract]
    status = StageStatus(stage.status)
    for number in range(1, stage.round + 1):
        name = f"{stage.contract}:{number}"
        now = number == stage.round
        if now and status is StageStatus.PENDING:
            return  # a person corrected an earlier stage, and this one is to be asked again
        yield _step(f"{name}:running", stage.contract, "running", told)
        ended_well = status in DONE_STAGE_STATUSES if now else (stage.contract, number) in passed
        stopped = status in _STOPPED if now else not ended_well
        if stopped and _passed_on(turn, stage, number):
            yield _step(f"{name}:stopped", stage.contract, "stopped", told)
            yield Fact(f"review:{name}", "review", {"words": words.announced["needs_review"]})
        if ended_well:
            yield _step(f"{name}:done", stage.contract, "done", told)


def _step(key: str, stage: str, status: str, words: str, **more: Any) -> Fact:
    return Fact(key, "stage", {"stage": stage, "status": status, "words": words, **more})


def pieces(reply: ReplyView) -> Iterator[str]:
    """Yield a stored reply part by part; joined they are the whole reply as plain text."""
    notices = (f"{notice.heading}: {notice.text}" for notice in reply.agency_notices)
    still = f"{reply.words.still['about']} {reply.still_about}" if reply.still_about else ""
    left = [f"{reply.words.uncovered['title']}: {part}" for part in reply.uncovered]
    words = (still, *notices, reply.title, reply.notice, reply.lead, *reply.paragraphs)
    cards = (
        part
        for card in reply.cards
        for part in (f"{card.title} ({card.source.agency})", card.lead, *_lists(card.facts))
    )
    words = (*words, *_lists(reply.facts), *cards, *left)
    parts = [part for part in words if part]
    for number, part in enumerate(parts):
        yield part if number == 0 else f"\n\n{part}"


def _lists(facts: Iterable[FactView]) -> Iterator[str]:
    return (f"{fact.heading}:\n" + "\n".join(f"- {i}" for i in fact.items) for fact in facts)

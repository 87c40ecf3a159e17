"""Reads of requests for an e-mail notification."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from conversations.mail.models import MailRequest, MailState
from conversations.models import Line, Reply, Turn
from conversations.person.models import LineKind, RequestState, Way
from conversations.states import TurnState
from conversations.turns.services import secret_digest

NONE, OFFERED = "none", "offered"
STATES = (
    *(NONE, OFFERED, MailState.ASKED.value, MailState.CONFIRMED.value, MailState.EXPIRED.value),
    *(MailState.REFUSED.value, MailState.UNREACHABLE.value),
)
"""A turn's e-mail state: ``none`` where no e-mail can be requested, ``offered`` where one can."""
_SHOWN = {
    **{state: state for state in STATES},
    MailState.TELLING.value: MailState.CONFIRMED.value,
}


def is_configured() -> bool:
    return bool(settings.IEIM_MAIL["HOST"])


def may_ask(turn: Turn) -> bool:
    """Whether a turn waits for an answer on the page, so that its citizen may request an e-mail."""
    if not is_configured() or turn.state != TurnState.NEEDS_REVIEW.value:
        return False
    person_request = getattr(turn, "person_request", None)
    return person_request is None or (person_request.state, person_request.way) == (
        RequestState.OPEN,
        Way.PAGE,
    )


def states(session_id: UUID) -> Mapping[UUID, str]:
    """Return the state of the newest request of each turn of a session."""
    if not is_configured():
        return {}
    requests = MailRequest.objects.filter(session=session_id).order_by("asked_at")
    return dict(requests.values_list("turn_id", "state"))


def visible_state(turn: Turn, newest: Mapping[UUID, str]) -> str:
    """Return one of :data:`STATES` for a turn; ``newest`` are those of its session."""
    return _SHOWN.get(newest.get(turn.pk, OFFERED), OFFERED) if may_ask(turn) else NONE


def of_secret(secret: str) -> MailRequest | None:
    """Return the request that the secret of a link belongs to."""
    digest = secret_digest(secret)
    requests = MailRequest.objects.filter(Q(confirm_sha256=digest) | Q(answer_sha256=digest))
    return requests.select_related("session", "turn").first()


def answered() -> QuerySet[MailRequest]:
    """Return the requests whose turn has its answer.

    The answer is its reply, or the first line of a person whom the citizen requested.
    """
    staff_lines = Line.objects.filter(
        session=OuterRef("session"), kind=LineKind.SAID.value, at__gte=OuterRef("asked_at")
    )
    replied = Reply.objects.filter(turn=OuterRef("turn"))
    return MailRequest.objects.annotate(asked_for=F("turn__person_request")).filter(
        Exists(replied) | Q(asked_for__isnull=False) & Exists(staff_lines)
    )


def is_answered(request: MailRequest) -> bool:
    return answered().filter(pk=request.pk).exists()

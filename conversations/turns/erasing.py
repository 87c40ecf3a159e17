"""Erasing a conversation: the citizen's words go, the record that it took place stays."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations import notify, ports
from conversations.models import (
    Choice,
    ClientTurn,
    Correction,
    Delay,
    Delivery,
    Line,
    MailRequest,
    PersonRequest,
    Replacement,
    Reply,
    Session,
    Stage,
    Subscription,
    Takeover,
    Turn,
    Unused,
)
from conversations.states import TurnState
from conversations.turns.locking import locked
from ieim.audit import services as audit
from ieim.audit.audited import ERASED

_ERASED = "erased:"
"""What the digest of an erased session's secret begins with: no SHA-256 in hex looks like it."""


@dataclass(frozen=True, slots=True)
class Erased:
    """How much was erased."""

    turns: int
    stages: int
    review_items: int


@transaction.atomic
def erase_session(*, session_id: UUID, actor: str = "citizen") -> Erased | None:
    """Erase what a citizen said and what came of it; None when that was done before.

    The session stays as a tombstone that no secret opens, its turns as ``closed`` ones without
    text. Stages with attempts and spans, choices, replies with corrections and ratings, which turn
    replaces which, requests for a person with the contact, requests to be told by e-mail with the
    address, takeovers with what was said, socket events, what a webhook was to be told, and review
    items with what was decided on them are deleted.
    ``actor`` is as for :func:`ieim.audit.services.record`. Raises ``Session.DoesNotExist``.

    The audit event comes first: the database lets nothing go without it.

    A worker that is running one of the turns finds its lease gone at its next write. Every such
    write holds the turn's row, so the turns come first: whatever a worker stored before is there
    to be deleted after them.
    """
    session = locked(Session.objects.all()).get(pk=session_id)
    if is_erased(session):
        return None
    turns = Turn.objects.select_for_update().filter(session=session)
    stages = Stage.objects.filter(turn__session=session)
    erased = Erased(
        turns=len(turns),
        stages=stages.count(),
        review_items=ports.count_reviews(session_id=session.pk),
    )
    audit.record(chain=session.pk, kind=ERASED, actor=actor, payload={**asdict(erased)})
    turns.update(
        state=TurnState.CLOSED.value,
        text="",
        risks=[],
        language="",
        lease=None,
        leased_until=None,
        retry_at=None,
        unavailable_since=None,
        updated_at=timezone.now(),
    )
    ports.erase_reviews(session_id=session.pk)
    stages.delete()
    Unused.objects.filter(turn__session=session).delete()
    Delay.objects.filter(turn__session=session).delete()
    Correction.objects.filter(session=session).delete()
    Reply.objects.filter(turn__session=session).delete()
    Choice.objects.filter(turn__session=session).delete()
    PersonRequest.objects.filter(session=session).delete()
    MailRequest.objects.filter(session=session).delete()
    Line.objects.filter(session=session).delete()
    Takeover.objects.filter(session=session).delete()
    Replacement.objects.filter(turn__session=session).delete()
    ClientTurn.objects.filter(session=session).delete()
    Delivery.objects.filter(turn__session=session).delete()
    Subscription.objects.filter(session=session).delete()
    session.secret_sha256 = f"{_ERASED}{session.pk.hex}"
    session.save(update_fields=["secret_sha256"])
    # An id that no page shows: each looks at the whole session, and finds nothing any more.
    transaction.on_commit(lambda: notify.turn_changed(session_id=session_id, turn_id=session_id))
    return erased


def is_erased(session: Session) -> bool:
    """Whether nothing is left of a session but its place."""
    return session.secret_sha256.startswith(_ERASED)

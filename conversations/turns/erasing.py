"""Erasing a conversation: the citizen's words go, the record that it took place stays."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Model, Q
from django.utils import timezone

from conversations import models, notify, ports
from conversations.models import ERASED_MARK, Session, Stage, Turn
from conversations.record.audited import SESSION, SIGNS, TEXT
from conversations.states import TurnState
from conversations.turns.locking import is_erased, locked
from ieim.audit import services as audit
from ieim.audit.models import AuditEvent
from ieim.audit.services import ERASED, LEFT

ERASED_SESSIONS = Q(secret_sha256__startswith=ERASED_MARK)
"""The sessions of which nothing is left but their place."""

_OF_TURNS: tuple[type[Model], ...] = (
    models.Stage,
    models.Unused,
    models.Delay,
    models.MissingTriage,
    models.Reply,
    models.Choice,
    models.Replacement,
    models.Delivery,
)
_OF_SESSIONS: tuple[type[Model], ...] = (
    models.Correction,
    models.PersonRequest,
    models.MailRequest,
    models.Line,
    models.Takeover,
    models.ClientTurn,
    models.Subscription,
)
"""What is deleted, with all that hangs on it."""


@transaction.atomic
def erase_session(*, session_id: UUID, actor: str = "citizen") -> dict[str, int] | None:
    """Erase what a citizen said and what came of it; None when that was done before.

    Returns how many ``turns``, ``stages`` and ``review_items`` there were. The session stays as a
    tombstone that no secret opens, its turns as ``closed`` ones without text. ``actor`` is as for
    :func:`ieim.audit.services.record`. Raises ``Session.DoesNotExist``.

    The audit event comes first: the database lets nothing go without it. A worker that is running
    one of the turns finds its lease gone at its next write. Every such write holds the turn's row,
    so the turns come first: whatever a worker stored before is there to be deleted after them.
    """
    session = locked(Session.objects.all()).get(pk=session_id)
    if is_erased(session):
        return None
    turns = Turn.objects.select_for_update().filter(session=session)
    erased = {
        "turns": len(turns),
        "stages": Stage.objects.filter(turn__session=session).count(),
        "review_items": ports.reviews().count(session_id=session.pk),
    }
    rows = [kind.row(turn) for turn in turns for kind in (TEXT, SIGNS)]
    # One that was there before there were digests stays vouched for by the event that joined it.
    if not AuditEvent.objects.filter(chain=session.pk, digest="").exists():
        rows.append(SESSION.row(session))
    left_event = audit.record(chain=session.pk, kind=LEFT, actor="system", payload={}, rows=rows)
    audit.record(chain=session.pk, kind=ERASED, actor=actor, payload={"turns": len(turns)})
    audit.empty(session.pk, before=left_event.seq)
    turns.update(
        state=TurnState.CLOSED.value,
        text="",
        risks=[],
        language="",
        situation=None,
        lease=None,
        leased_until=None,
        retry_at=None,
        unavailable_since=None,
        updated_at=timezone.now(),
    )
    ports.reviews().erase(session_id=session.pk)
    for model in _OF_SESSIONS:
        model._default_manager.filter(session=session).delete()
    for model in _OF_TURNS:
        model._default_manager.filter(turn__session=session).delete()
    session.secret_sha256 = session.link_sha256 = f"{ERASED_MARK}{session.pk.hex}"
    session.save(update_fields=["secret_sha256", "link_sha256"])
    # An id that no page shows: each looks at the whole session, and finds nothing any more.
    transaction.on_commit(lambda: notify.turn_changed(session_id=session_id, turn_id=session_id))
    return erased

"""The rows of reviews that audit events prove, and what the database refuses of them."""

from __future__ import annotations

from django.db.migrations.operations import RunPython

from ieim.audit.audited import AuditedModel
from ieim.audit.services import ERASED
from ieim.audit.triggers import Guard, ended_by, guarded
from review.models import Decision, Note, ReviewItem, SignOff

_SESSION = (
    "SELECT t.session_id FROM conversations_turn t "
    "JOIN review_reviewitem i ON i.turn_id = t.id WHERE i.id = OLD.item_id"
)
GUARDS = {
    guard.table: guard
    for guard in (
        Guard("review_decision", keys=[["id"]], erased_if=ended_by(ERASED, _SESSION)),
        Guard(
            "review_signoff",
            taken_if="NEW.stands AND stands AND item_id = NEW.item_id AND agency = NEW.agency",
            may_change=("stands",),
            update_if="OLD.stands AND NOT NEW.stands",
            erased_if=ended_by(ERASED, _SESSION),
        ),
    )
}

ITEM = AuditedModel(
    "review_item",
    ReviewItem.objects.all,
    ("id", "turn_id", "stage", "opened_at"),
    chain_lookup="turn__session_id",
    is_immutable=True,
)
DECISION = AuditedModel(
    "decision",
    Decision.objects.all,
    (
        *("id", "item_id", "actor_id", "action", "reason", "patch", "output", "artifacts"),
        *("evidence", "seconds", "about_id", "created_at"),
    ),
    chain_lookup="item__turn__session_id",
    is_immutable=True,
)
SIGN_OFF = AuditedModel(
    "sign_off",
    SignOff.recorded.all,
    ("item_id", "agency", "by_id", "reason", "at", "stands"),
    chain_lookup="item__turn__session_id",
)
NOTE = AuditedModel(
    "note",
    Note.objects.all,
    ("id", "item_id", "author_id", "text", "created_at"),
    chain_lookup="item__turn__session_id",
    is_immutable=True,
)
KINDS = (ITEM, DECISION, SIGN_OFF, NOTE)


def guard(table: str) -> RunPython:
    """Return the migration operation that guards a table; it can be repeated."""
    return guarded(GUARDS[table])

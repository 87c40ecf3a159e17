"""Writes: opening review items, and erasing them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.models import Turn
from conversations.services import REPLY
from ieim.audit import services as audit
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import ANSWERING
from review.models import Priority, ReviewItem
from review.states import UNDECIDED


@transaction.atomic
def open_item(*, turn_id: UUID, stage: str, codes: Sequence[str]) -> ReviewItem:
    """Open an item for a stage (a contract's id, or ``reply``) of a turn, with its audit event.

    Runs inside the caller's transaction, with the result that made it necessary. While an item for
    the same stage of the turn is undecided, that one is returned as it is. Raises
    ``Turn.DoesNotExist``.
    """
    session_id = Turn.objects.values_list("session_id", flat=True).get(pk=turn_id)
    reasons = list(dict.fromkeys(codes))
    undecided = ReviewItem.objects.filter(state__in=[state.value for state in UNDECIDED])
    item, opened = undecided.get_or_create(
        turn_id=turn_id,
        stage=stage,
        defaults={
            "reasons": reasons,
            "reason": reasons[0] if reasons else "",
            "priority": _priority(stage, reasons),
            "due_at": timezone.now(),
        },
    )
    if opened:
        audit.record(
            chain=session_id,
            kind="review.opened",
            actor="system",
            payload={
                "item": str(item.pk),
                "turn": str(turn_id),
                "stage": stage,
                "codes": reasons,
                "priority": item.priority,
            },
        )
    return item


@transaction.atomic
def erase_items(*, session_id: UUID) -> int:
    """Delete the items of a session that is being erased, decided or not; returns how many.

    Runs inside the caller's transaction, which writes the audit event. The records of decisions go
    along, because they hold the citizen's words; the audit record says what was decided, in codes.
    """
    items = ReviewItem.objects.filter(turn__session_id=session_id)
    return items.delete()[1].get(ReviewItem._meta.label, 0)


def _priority(stage: str, codes: Sequence[str]) -> Priority:
    if Code.POLICY_RISK in codes:
        return Priority.HIGH
    return Priority.NORMAL if stage in ANSWERING or stage == REPLY else Priority.LOW

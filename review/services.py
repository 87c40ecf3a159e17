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
from review import known
from review.deciding.parents import parent_of
from review.known import Known
from review.models import ItemFlag, Priority, ReviewItem
from review.states import UNDECIDED


@transaction.atomic
def open_item(*, turn_id: UUID, stage: str, codes: Sequence[str]) -> ReviewItem:
    """Open an item for a stage (a contract's id, or ``reply``) of a turn, with its audit event.

    Runs inside the caller's transaction, with the result that made it necessary. While an item for
    the same stage of the turn is undecided, that one is returned, with what became known since:
    triage may end after it was opened, and the caller calls again. Such a refresh is no change that
    somebody who has claimed the item must have seen, so its version stays. Raises
    ``Turn.DoesNotExist``.
    """
    turn = Turn.objects.get(pk=turn_id)
    facts = known.of_turn(turn)
    undecided = ReviewItem.objects.filter(state__in=[state.value for state in UNDECIDED])
    item, opened = undecided.get_or_create(
        turn_id=turn_id,
        stage=stage,
        defaults={"parent": parent_of(turn_id), "due_at": timezone.now()},
    )
    _refresh(item, turn, facts, codes)
    if opened:
        audit.record(
            chain=turn.session_id,
            kind="review.opened",
            actor="system",
            payload={
                "item": str(item.pk),
                "turn": str(turn_id),
                "stage": stage,
                "codes": item.reasons,
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


def _refresh(item: ReviewItem, turn: Turn, facts: Known, codes: Sequence[str]) -> None:
    """Write what is known now; a reason that was told once stays."""
    # A risk comes first: it is what the person who picks an item has to know.
    told = dict.fromkeys([*item.reasons, *codes])
    reasons = sorted(told, key=lambda code: code != Code.POLICY_RISK)
    priority = _priority(item.stage, reasons)
    # A person may have handed the item to another agency meanwhile: theirs stays.
    agency = item.agency or facts.agency
    values = {
        "reasons": reasons,
        "reason": reasons[0] if reasons else "",
        "priority": priority,
        "agency": agency,
        "urgency": facts.urgency,
        "language": facts.language,
        "needs_second": known.needs_second(facts, stage=item.stage, agency=agency),
        "due_at": known.due_at(turn, facts, priority=priority, opened_at=item.opened_at),
    }
    ReviewItem.objects.filter(pk=item.pk).update(**values)
    for name, value in values.items():
        setattr(item, name, value)
    ItemFlag.objects.bulk_create(
        [ItemFlag(item=item, code=code) for code in facts.flags], ignore_conflicts=True
    )


def _priority(stage: str, codes: Sequence[str]) -> Priority:
    if Code.POLICY_RISK in codes:
        return Priority.HIGH
    return Priority.NORMAL if stage in ANSWERING or stage == REPLY else Priority.LOW

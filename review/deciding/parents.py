"""Which decision a turn's new item comes after."""

from __future__ import annotations

from uuid import UUID

from ieim.pipeline.topology import ANSWERING, REPLY
from review.models import ReviewItem
from review.states import ReviewState


def parent_of(turn_id: UUID) -> ReviewItem | None:
    """Return the last decided item of a turn, after which the pipeline went on; None for none."""
    decided = ReviewItem.objects.filter(
        turn_id=turn_id, state=ReviewState.DECIDED.value, stage__in=[*ANSWERING, REPLY]
    )
    return decided.order_by("-decided_at").first()

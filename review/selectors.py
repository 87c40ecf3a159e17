"""Reads: the queue and one item with its evidence."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Prefetch, QuerySet

from conversations.models import Attempt, Stage
from review.models import ReviewItem
from review.states import ReviewState


def queue(*, state: ReviewState = ReviewState.OPEN) -> QuerySet[ReviewItem]:
    """Return the items in ``state``, what comes first first.

    With turn and session and the stage that found the agency: two queries, however many items.
    """
    found = Stage.objects.filter(contract="agency_detect_v1")
    return (
        ReviewItem.objects.filter(state=state.value)
        .select_related("turn__session")
        .prefetch_related(Prefetch("turn__stages", queryset=found))
        .order_by("priority", "opened_at", "id")
    )


def item(pk: UUID) -> ReviewItem:
    """Return one item with its turn, session, stages and attempts.

    Three queries. Raises ``ReviewItem.DoesNotExist``.
    """
    # What an attempt was asked and answered is not shown here and can be large.
    attempts = Attempt.objects.defer("raw", "refusal")
    return (
        ReviewItem.objects.select_related("turn__session")
        .prefetch_related("turn__stages", Prefetch("turn__stages__attempts", queryset=attempts))
        .get(pk=pk)
    )

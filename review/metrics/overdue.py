"""What should have been decided and was not: it is in no answer, and in time neither."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from django.db.models import Count
from django.utils import timezone

from ieim.pipeline.topology import AWAITED
from review.metrics import queries
from review.metrics.queries import Period
from review.models import ReviewItem
from review.states import UNDECIDED


class Overdue(NamedTuple):
    """Items for an answer that are overdue and still open, by the day on which they were due."""

    day: date
    agency: str
    items: int


def overdue(period: Period) -> Iterator[Overdue]:
    """Yield what was due in a period and is open all the same."""
    left = ReviewItem.objects.filter(
        stage__in=AWAITED, state__in=[state.value for state in UNDECIDED], due_at__lt=timezone.now()
    )
    items = queries.within(left, period, "due_at", turn="turn_id")
    return map(Overdue._make, queries.summed(items, period, Count("pk")))

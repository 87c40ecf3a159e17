"""Writes: the figures of days that are over, each counted once and again when it has changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from conversations.models import Turn
from review.metrics import selectors
from review.metrics.selectors import Period
from review.models import DailyFigures, LateChange

AFTER_MIDNIGHT = timedelta(hours=1)
"""A day is counted so long after its end: every transaction that wrote to it has ended."""
RECOUNT_EVERY = timedelta(minutes=10)
CHANGES = 5_000
"""Late changes that one run looks at."""


def roll_up(*, now: datetime) -> bool:
    """Count the last day that is over and stale; return whether there was one.

    Two at once do no harm.
    """
    _mark_changed_days()
    _add_days(now)
    stale = DailyFigures.objects.filter(is_stale=True)
    due = stale.filter(Q(counted_at=None) | Q(counted_at__lte=now - RECOUNT_EVERY))
    day = due.order_by("-begin").first()
    if day is None:
        return False
    date = timezone.localdate(day.begin, timezone.get_default_timezone())
    with transaction.atomic():
        # First: a change that this count does not see marks the row after it.
        if stale.filter(pk=day.pk).update(is_stale=False, counted_at=now):
            figures = selectors.count(Period(date, date))
            stored = {name: [{**row, "day": None} for row in figures[name]] for name in figures}
            DailyFigures.objects.filter(pk=day.pk).update(figures=stored)
    return True


@transaction.atomic
def _mark_changed_days() -> None:
    changes = list(LateChange.objects.all()[:CHANGES])
    if moments := selectors.changed_moments(changes):
        # Stale ones too: one that is being counted waits for its lock, and is stale afterwards.
        days = DailyFigures.objects.filter(begin__lte=max(moments), end__gt=min(moments))
        changed = [day.pk for day in days.defer("figures") if day.has_any(moments)]
        DailyFigures.objects.filter(pk__in=changed).update(is_stale=True)
    if changes:
        LateChange.objects.filter(pk__in=[change.pk for change in changes]).delete()


def _add_days(now: datetime) -> None:
    """Add the days that are over since the first question, before any of them is counted.

    Days of another time zone go.
    """
    zone = timezone.get_default_timezone()
    last = timezone.localdate(now - AFTER_MIDNIGHT, zone) - timedelta(days=1)
    begin, end = Period(last, last).midnights
    first = Turn.objects.order_by("created_at").first()
    if first is None or first.created_at >= end:
        return
    if not DailyFigures.objects.filter(begin=begin, end=end).exists():
        midnights = Period(timezone.localdate(first.created_at, zone), last).midnights
        same_zone = DailyFigures.objects.filter(begin__in=midnights, end__in=midnights)
        DailyFigures.objects.exclude(pk__in=same_zone.values("pk")).delete()
        days = [DailyFigures(begin=begin, end=end) for begin, end in pairwise(midnights)]
        DailyFigures.objects.bulk_create(days, ignore_conflicts=True)

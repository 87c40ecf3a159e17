"""Writes: the figures of days that are over, each counted once and again when it has changed."""

from __future__ import annotations

from datetime import datetime, timedelta

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
"""A day is counted again so long after the last time; what changed since is counted live until."""
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
    with transaction.atomic():
        # First: a change that this count does not see marks the row after it.
        if stale.filter(pk=day.pk).update(is_stale=False, counted_at=now):
            date = timezone.localdate(day.begin, timezone.get_default_timezone())
            figures = {
                name: [{k: v for k, v in row.items() if k != "day"} for row in rows]
                for name, rows in selectors.count(Period(date, date)).items()
            }
            DailyFigures.objects.filter(pk=day.pk).update(figures=figures)
    return True


@transaction.atomic
def _mark_changed_days() -> None:
    changes = list(LateChange.objects.values_list("pk", "turn_id", "moment")[:CHANGES])
    if changes:
        moments = selectors.changed_moments((turn, moment) for _, turn, moment in changes)
        # Stale ones too: one that is being counted waits for its lock, and is stale afterwards.
        days = DailyFigures.objects.filter(begin__lte=max(moments), end__gt=min(moments))
        changed = [day.pk for day in days.defer("figures") if day.has_any(moments)]
        DailyFigures.objects.filter(pk__in=changed).update(is_stale=True)
        LateChange.objects.filter(pk__in=[pk for pk, *_ in changes]).delete()


def _add_days(now: datetime) -> None:
    """Add a row for each day that is over, before it is counted, since the first question.

    Days of another time zone go.
    """
    zone = timezone.get_default_timezone()
    last = timezone.localdate(now - AFTER_MIDNIGHT, zone) - timedelta(days=1)
    begin, end = Period(last, last).midnights
    first = Turn.objects.order_by("created_at").values_list("created_at", flat=True).first()
    if first is None or first >= end or DailyFigures.objects.filter(begin=begin, end=end).exists():
        return
    spans = set(Period(timezone.localdate(first, zone), last).spans)
    stored = {(day.begin, day.end): day.pk for day in DailyFigures.objects.defer("figures")}
    others = [pk for span, pk in stored.items() if span not in spans]
    DailyFigures.objects.filter(pk__in=others).delete()
    days = [DailyFigures(begin=begin, end=end) for begin, end in sorted(spans - stored.keys())]
    DailyFigures.objects.bulk_create(days, ignore_conflicts=True)

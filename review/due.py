"""Due times of items: target minutes, counted in business hours.

Pure functions: nothing here reads a clock, the settings or the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ieim.administration.hours import Hours
from ieim.pipeline.knowledge import Label
from review.models import CRISIS, NORMAL_RANK, REFUSED, SIGN, Priority

DEFAULT_MINUTES: Mapping[int, int] = {Priority.HIGH: 240, Priority.NORMAL: 1440, Priority.LOW: 4320}
"""Target minutes by priority, where no urgency is known."""
CRISIS_MINUTES = 30
"""Target minutes of an escalating risk where no urgency label has any."""
LONGEST_DAYS = 10 * 366
"""After so many days it is due, whatever the hours: an office that never opens again has none."""
LONGEST_MINUTES = 365 * 24 * 60
"""More than this is taken as this: a date that no calendar reaches is no target."""


@dataclass(frozen=True, slots=True)
class Target:
    """How long a person may take; ``at_any_hour`` counts nights, weekends and holidays too."""

    minutes: int
    at_any_hour: bool = False


def target(*, urgency: str, priority: int, crisis: bool, urgencies: Mapping[str, Label]) -> Target:
    """Return how long an item may wait.

    ``urgency`` is a label's code, empty where none is known; ``urgencies`` are the release's
    labels. ``crisis`` says that a risk flag escalates: then it is the shortest target there is.
    """
    minutes = _minutes(urgencies)
    if crisis:
        return Target(min(minutes.values(), default=CRISIS_MINUTES), at_any_hour=True)
    return Target(minutes.get(urgency, DEFAULT_MINUTES[priority]))


def rank(
    *, urgency: str, crisis: bool, sign: bool, urgencies: Mapping[str, Label], refused: bool = False
) -> int:
    """Return how urgent an item is, the lowest first: a crisis, then by its target minutes.

    A crisis that is only a ``sign``, for which nothing waits, comes after the others; what a model
    ``refused`` to read comes after those in crisis.

    Minutes, so that the items of two releases with different urgencies stand in one order. What
    nobody knows the urgency of counts as normal.
    """
    if crisis:
        return SIGN if sign else CRISIS
    if refused:
        return REFUSED
    minutes = _minutes(urgencies).get(urgency, NORMAL_RANK)
    return min(max(minutes, REFUSED + 1), LONGEST_MINUTES)


def _minutes(urgencies: Mapping[str, Label]) -> dict[str, int]:
    return {code: int(label.effect) for code, label in urgencies.items() if label.effect}


def due(start: datetime, target: Target, calendar: Hours) -> datetime:
    """Return the moment that is ``target`` after ``start`` (aware), in the zone of ``start``.

    Only business hours count, unless the target counts at any hour.
    """
    remaining = timedelta(minutes=min(target.minutes, LONGEST_MINUTES))
    if target.at_any_hour:
        return start + remaining
    day = start.astimezone(calendar.zone).date()
    for _ in range(LONGEST_DAYS):
        for moments in calendar.moments(day):
            # In UTC: arithmetic within a zone ignores that its clocks change.
            opens, closes = (at.astimezone(UTC) for at in moments)
            begin = max(start.astimezone(UTC), opens)
            if begin + remaining <= closes:
                return (begin + remaining).astimezone(start.tzinfo)
            remaining -= max(closes - begin, timedelta())
        day += timedelta(days=1)
    return start + timedelta(days=LONGEST_DAYS)

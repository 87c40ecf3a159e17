"""When people can be reached: the one place that knows opening hours and holidays.

Due times (``review/due.py``) and requests for a person go by the same calendar.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock_time
from functools import cache
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.translation import gettext as _
from holidays import HolidayBase, country_holidays

from conversations.languages import pages

LOOK_AHEAD = 60
"""Days in which somebody works on one of them, whatever the country."""
CALL_DAYS = 5
"""Working days for which a call back is offered."""
NOTICE_DAYS = 14
"""Days ahead of which holidays are told."""
SHORTEST_NOTICE = timedelta(minutes=30)
"""A time for a call ends no sooner than this."""


@dataclass(frozen=True)
class Calendar:
    """When people work: from ``opens`` to ``closes`` (minutes of a day, 0 to 1,440) in ``zone``.

    ``days`` knows weekends and public holidays; without a country it knows weekends only.
    """

    zone: tzinfo
    opens: int = 9 * 60
    closes: int = 17 * 60
    days: HolidayBase = field(default_factory=HolidayBase)

    def works(self, day: date) -> bool:
        """Whether anybody works on ``day``."""
        return self.days.is_working_day(day)

    def hours(self, day: date) -> tuple[datetime, datetime]:
        """Return when work begins and ends on ``day``, aware."""
        return self.at(day, self.opens), self.at(day, self.closes)

    def at(self, day: date, minutes: int) -> datetime:
        """Return the moment of ``day`` that is ``minutes`` after midnight, by the clock."""
        days, minutes = divmod(minutes, 24 * 60)
        at = clock_time(minutes // 60, minutes % 60)
        return datetime.combine(day + timedelta(days=days), at, tzinfo=self.zone)


@dataclass(frozen=True, slots=True)
class Slot:
    """A time in which somebody can call."""

    begins: datetime
    ends: datetime

    @property
    def value(self) -> str:
        """Its name in forms and in the API."""
        return self.begins.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")


@dataclass(frozen=True, slots=True)
class Opening:
    """When people can be reached, as of now.

    ``opens`` and ``closes`` are those of a working day (of today, or of the next one). ``next`` is
    when it opens again, None while it is open. ``weekdays`` counts Monday as 0. ``holidays`` are
    those of the next two weeks, as (day, name).
    """

    open: bool
    opens: datetime
    closes: datetime
    next: datetime | None
    weekdays: tuple[int, ...]
    holidays: tuple[tuple[date, str], ...]

    @property
    def days(self) -> str:
        """The weekdays, as people say them."""
        first, last = self.weekdays[0], self.weekdays[-1]
        names = pages.locale(pages.current()).days["stand-alone"]["wide"]
        if self.weekdays == tuple(range(first, last + 1)) and len(self.weekdays) > 2:
            ends = {"first": names[first], "last": names[last]}
            return _("{first} to {last}").format(**ends)
        return ", ".join(names[day] for day in self.weekdays)


def calendar() -> Calendar:
    """Return the deployment's calendar."""
    return _calendar(settings.TIME_ZONE, *settings.IEIM_BUSINESS_HOURS, settings.IEIM_HOLIDAYS)


def opening(now: datetime) -> Opening:
    """Return when people can be reached, as of ``now``."""
    known = calendar()
    today = now.astimezone(known.zone).date()
    opens, closes = next(_hours(known, now))
    is_open = opens <= now
    ahead = (today + timedelta(days=days) for days in range(NOTICE_DAYS))
    weekend = known.days.weekend
    return Opening(
        open=is_open,
        opens=opens,
        closes=closes,
        next=None if is_open else opens,
        weekdays=tuple(day for day in range(7) if day not in weekend),
        holidays=tuple(
            (day, known.days.get(day) or "")
            for day in ahead
            if not known.works(day) and day.weekday() not in weekend
        ),
    )


def slots(now: datetime) -> tuple[Slot, ...]:
    """Return the times for which a call back can be wanted: half days, the next one first."""
    known, found = calendar(), []
    middle = (known.opens + known.closes) // 2 // 60 * 60
    for number, (opens, closes) in enumerate(_hours(known, now)):
        if number == CALL_DAYS:
            break
        noon = known.at(opens.date(), middle)
        halves = [(opens, noon), (noon, closes)] if opens < noon < closes else [(opens, closes)]
        found += [Slot(*half) for half in halves if half[1] - SHORTEST_NOTICE > now]
    return tuple(found)


def _hours(known: Calendar, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the hours of the days that are not over yet on which somebody works."""
    today = now.astimezone(known.zone).date()
    for days in range(LOOK_AHEAD):
        day = today + timedelta(days=days)
        opens, closes = known.hours(day)
        if known.works(day) and closes > now:
            yield opens, closes


@cache
def _calendar(zone: str, opens: int, closes: int, place: str) -> Calendar:
    country, _, part = place.partition("-")
    days = country_holidays(country, subdiv=part or None) if country else HolidayBase()
    return Calendar(ZoneInfo(zone), opens, closes, days)

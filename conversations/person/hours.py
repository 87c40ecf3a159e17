"""When people can be reached: the one place that knows opening hours and holidays.

Due times (``review/due.py``) and requests for a person go by the same calendar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.translation import get_language
from holidays import HolidayBase

from conversations import page_languages
from ieim.administration import selectors as administration
from ieim.administration.hours import Hours, Span, holidays_of
from ieim.knowledge.wording import time_of, weekly

CALL_DAYS = 5
"""Working days for which a call back is offered."""
NOTICE_DAYS = 14
"""Days ahead for which holidays are shown."""
SHORTEST_NOTICE = timedelta(minutes=30)
"""A time for a call ends no sooner than this."""
LONG = timedelta(hours=6)
"""A day that is open for so long without a break has two times for a call."""


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

    ``opens`` and ``closes`` are those of now, or of the next time; ``next`` is when it opens again,
    None while it is open. ``week`` has the spans of seven days, Monday first. ``closed`` are the
    days of the next two weeks on which nobody is there for once, as (day, why).
    """

    open: bool
    opens: datetime
    closes: datetime
    week: Sequence[Sequence[Span]]
    closed: Sequence[tuple[date, str]]

    @property
    def next(self) -> datetime | None:
        return None if self.open else self.opens

    @property
    def hours(self) -> Iterator[tuple[str, time, time]]:
        """The opening hours of the week: days, from when, until when."""
        locale = page_languages.locale(page_languages.current())
        for days, span in weekly(self.week, locale):
            opens, closes = map(time_of, span)
            yield days, opens, closes


def calendar() -> Hours:
    """Return when people work: as the administration has set it, else as the environment says."""
    configured = settings.TIME_ZONE, *settings.IEIM_BUSINESS_HOURS, settings.IEIM_HOLIDAYS
    return administration.current().hours or _configured(*configured)


def opening(now: datetime) -> Opening | None:
    """Return when people can be reached, as of ``now``; None where that is not in sight."""
    office_hours = calendar()
    today = now.astimezone(office_hours.zone).date()
    following = _following(office_hours, now)
    if not following:
        return None
    opens, closes = following[0]
    dates = (today + timedelta(days=days) for days in range(NOTICE_DAYS))
    return Opening(
        open=opens <= now,
        opens=opens,
        closes=closes,
        week=office_hours.days,
        closed=tuple(
            (day, _why(office_hours, day))
            for day in dates
            if office_hours.days[day.weekday()] and not office_hours.on(day)
        ),
    )


def slots(now: datetime) -> tuple[Slot, ...]:
    """Return the times for which a call back can be wanted: half days, the next one first."""
    result: list[Slot] = []
    days: set[date] = set()
    for opens, closes in _following(calendar(), now):
        days.add(opens.date())
        if len(days) > CALL_DAYS:
            break
        noon = (opens + (closes - opens) / 2).replace(minute=0, second=0, microsecond=0)
        long = closes - opens >= LONG and opens < noon < closes
        halves = [(opens, noon), (noon, closes)] if long else [(opens, closes)]
        result += [Slot(*half) for half in halves if half[1] - SHORTEST_NOTICE > now]
    return tuple(result)


def _following(office_hours: Hours, now: datetime) -> list[tuple[datetime, datetime]]:
    """Return the opening times that are not over yet."""
    today = now.astimezone(office_hours.zone).date()
    return [(opens, closes) for opens, closes in office_hours.spans(today) if closes > now]


def _why(office_hours: Hours, day: date) -> str:
    """Return why nobody works on ``day``, as far as it is known, in the page's language."""
    closed = next(
        (period.why for period in office_hours.closed if period.first <= day <= period.last), ""
    )
    if closed or not office_hours.country:
        return closed
    return holidays_of(office_hours.country, get_language() or "").get(day) or ""


@cache
def _configured(zone: str, opens: int, closes: int, country: str) -> Hours:
    weekend = (holidays_of(country) if country else HolidayBase()).weekend
    week: list[tuple[Span, ...]] = [
        () if day in weekend else ((opens, closes),) for day in range(7)
    ]
    return Hours(ZoneInfo(zone), week, country)

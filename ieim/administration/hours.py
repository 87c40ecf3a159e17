"""When an administration is open: by weekday, but for public holidays and days that it names.

Pure functions: nothing here reads a clock, the settings or the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock_time
from functools import lru_cache

from django.utils.translation import gettext
from holidays import HolidayBase, country_holidays

Span = tuple[int, int]
"""From when to when, in minutes of a day."""

AHEAD = 60
"""Days that are looked through for the next opening."""
_SPAN = re.compile(
    r"([01]?[0-9]|2[0-4])[:.]([0-5][0-9]) *[-–—] *([01]?[0-9]|2[0-4])[:.]([0-5][0-9])"
)
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?: *(?:to|-|–) *([0-9]{4}-[0-9]{2}-[0-9]{2}))?")


class BadHours(ValueError):
    """Hours or days that cannot be read; ``args[0]`` says what to write."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Days on which nobody is there, both included."""

    first: date
    last: date
    why: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """Whether it is open at a moment, and when that changes; None: not within :data:`AHEAD`."""

    open: bool
    until: datetime | None


@dataclass(frozen=True)
class Hours:
    """Opening hours; ``days`` are seven, Monday first. ``country`` is as ``DE`` or ``DE-BY``."""

    zone: tzinfo
    days: Sequence[Sequence[Span]] = ((),) * 7
    country: str = ""
    closed: Sequence[Closed] = field(default_factory=tuple)

    def __bool__(self) -> bool:
        """Whether it is ever open."""
        return any(self.days)

    def on(self, day: date) -> Sequence[Span]:
        """Return when it is open on ``day``."""
        if any(each.first <= day <= each.last for each in self.closed):
            return ()
        if self.country and day in holidays_of(self.country):
            return ()
        return self.days[day.weekday()]

    def moments(self, day: date) -> Sequence[tuple[datetime, datetime]]:
        """Return when it opens and closes on ``day``, aware."""
        return [(self._at(day, opens), self._at(day, closes)) for opens, closes in self.on(day)]

    def spans(self, first: date) -> Iterator[tuple[datetime, datetime]]:
        """Yield when it opens and closes, from ``first`` on, :data:`AHEAD` days long; aware."""
        for number in range(AHEAD):
            yield from self.moments(first + timedelta(days=number))

    def status(self, now: datetime) -> Status:
        """Return whether it is open at ``now`` (aware); opening times are half-open."""
        for opens, closes in self.spans(now.astimezone(self.zone).date()):
            # In UTC: comparing within a zone ignores that its clocks change.
            if now.astimezone(UTC) < closes.astimezone(UTC):
                here = opens.astimezone(UTC) <= now.astimezone(UTC)
                return Status(here, closes if here else opens)
        return Status(open=False, until=None)

    def _at(self, day: date, minutes: int) -> datetime:
        days, minutes = divmod(minutes, 24 * 60)
        at = clock_time(minutes // 60, minutes % 60)
        return datetime.combine(day + timedelta(days=days), at, tzinfo=self.zone)


@lru_cache(maxsize=32)
def holidays_of(country: str, language: str = "") -> HolidayBase:
    """Return the public holidays of a country or a part of one; raises NotImplementedError.

    Their names are in ``language`` (of a page, such as ``zh-hans``) where they are known in it, and
    else in the country's own.
    """
    code, _, part = country.partition("-")
    own = country_holidays(code, subdiv=part or None)
    spoken = language.partition("-")[0]
    known = (each for each in own.supported_languages if each.partition("_")[0] == spoken)
    return country_holidays(code, subdiv=part or None, language=next(known, own.default_language))


def read_spans(text: str) -> tuple[Span, ...]:
    """Return the spans in a text such as ``08:00-12:00, 13:00-16:00``. Raises BadHours."""
    spans: list[Span] = []
    for part in filter(None, (part.strip() for part in re.split(r"[,;]", text))):
        found = _SPAN.fullmatch(part)
        if found is None:
            raise BadHours(gettext("Write hours as 09:00-17:00, or 08:00-12:00, 13:00-16:00."))
        hours = [int(number) for number in found.groups()]
        opens, closes = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
        if not opens < closes <= 24 * 60:
            told = gettext("“{hours}” ends before it begins. Write hours as 09:00-17:00.")
            raise BadHours(told.format(hours=part))
        if spans and opens < spans[-1][1]:
            told = gettext("“{hours}” begins before the hours in front of it have ended.")
            raise BadHours(told.format(hours=part))
        spans.append((opens, closes))
    return tuple(spans)


def said(spans: Sequence[Span]) -> str:
    """Return spans as :func:`read_spans` reads them."""
    return ", ".join(f"{clock(opens)}-{clock(closes)}" for opens, closes in spans)


def clock(minutes: int) -> str:
    """Return minutes of a day as ``09:05``."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def read_closed(line: str) -> Closed:
    """Return the days in a line such as ``2026-12-24 to 2027-01-01: winter break``.

    Raises BadHours.
    """
    days, _, why = line.partition(":")
    found = _DAY.fullmatch(days.strip())
    try:
        first, last = (
            (date.fromisoformat(each) for each in (found[1], found[2] or found[1]))
            if (found)
            else (None, None)
        )
    except ValueError:
        first = last = None
    if first is None or last is None or last < first:
        told = gettext(
            "“{day}” is no day. Write one a line: 2026-12-24, or 2026-12-24 to 2027-01-01: "
            "winter break."
        )
        raise BadHours(told.format(day=line[:60]))
    return Closed(first, last, why.strip())


def said_closed(closed: Closed) -> str:
    """Return days as :func:`read_closed` reads them."""
    until = f" to {closed.last}" if closed.last != closed.first else ""
    return f"{closed.first}{until}" + (f": {closed.why}" if closed.why else "")

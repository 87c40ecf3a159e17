"""Opening hours by weekday, with public holidays and extra closed days.

Pure functions: nothing here reads a clock, the settings or the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock_time
from functools import lru_cache

from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from holidays import HolidayBase, country_holidays

Span = tuple[int, int]
"""Opening and closing time in minutes of a day."""

SEARCH_DAYS = 60
"""Days searched for the next opening."""
_SPAN = re.compile(
    r"([01]?[0-9]|2[0-4])[:.]([0-5][0-9]) *[-–—] *([01]?[0-9]|2[0-4])[:.]([0-5][0-9])"
)
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?: *(?:to|-|–) *([0-9]{4}-[0-9]{2}-[0-9]{2}))?")


class BadHours(ValidationError):
    """Hours or days that cannot be parsed; the message says what to write."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Extra closed days, both included."""

    first: date
    last: date
    why: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """Whether it is open at a moment, and when that changes.

    None: not within :data:`SEARCH_DAYS`.
    """

    open: bool
    until: datetime | None


@dataclass(frozen=True)
class Hours:
    """Opening hours; ``days`` are seven, Monday first. ``country`` is as ``DE`` or ``DE-BY``.
    ``special`` has the spans of single dates, which nothing else holds for."""

    zone: tzinfo
    days: Sequence[Sequence[Span]] = ((),) * 7
    country: str = ""
    closed: Sequence[Closed] = field(default_factory=tuple)
    special: Mapping[date, Sequence[Span]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(self.days)

    def on(self, day: date) -> Sequence[Span]:
        """Return the spans of ``day``, none where it is closed."""
        if day in self.special:
            return self.special[day]
        if any(days.first <= day <= days.last for days in self.closed):
            return ()
        if self.country and day in holidays_of(self.country):
            return ()
        return self.days[day.weekday()]

    def moments(self, day: date) -> Sequence[tuple[datetime, datetime]]:
        """Return when it opens and closes on ``day``, aware."""
        return [(self._time(day, opens), self._time(day, closes)) for opens, closes in self.on(day)]

    def spans(self, first: date) -> Iterator[tuple[datetime, datetime]]:
        """Yield opening and closing times (aware) of :data:`SEARCH_DAYS` days from ``first`` on."""
        for number in range(SEARCH_DAYS):
            yield from self.moments(first + timedelta(days=number))

    def status(self, now: datetime) -> Status:
        """Return whether it is open at ``now`` (aware); opening times are half-open."""
        for opens, closes in self.spans(now.astimezone(self.zone).date()):
            # In UTC: comparing within a zone ignores that its clocks change.
            if now.astimezone(UTC) < closes.astimezone(UTC):
                is_open = opens.astimezone(UTC) <= now.astimezone(UTC)
                return Status(is_open, closes if is_open else opens)
        return Status(open=False, until=None)

    def _time(self, day: date, minutes: int) -> datetime:
        days, minutes = divmod(minutes, 24 * 60)
        time = clock_time(minutes // 60, minutes % 60)
        return datetime.combine(day + timedelta(days=days), time, tzinfo=self.zone)


@lru_cache(maxsize=32)
def holidays_of(country: str, language: str = "") -> HolidayBase:
    """Return the public holidays of a country or a part of one; raises NotImplementedError.

    Their names are in ``language`` (of a page, such as ``zh-hans``) where the library has it, else
    in the country's default language.
    """
    code, _, part = country.partition("-")
    default = country_holidays(code, subdiv=part or None)
    base = language.partition("-")[0]
    supported = (name for name in default.supported_languages if name.partition("_")[0] == base)
    chosen = next(supported, default.default_language)
    return country_holidays(code, subdiv=part or None, language=chosen)


def read_spans(text: str) -> tuple[Span, ...]:
    """Parse spans such as ``08:00-12:00, 13:00-16:00``. Raises BadHours."""
    spans: list[Span] = []
    for part in filter(None, (part.strip() for part in re.split(r"[,;]", text))):
        match = _SPAN.fullmatch(part)
        if match is None:
            raise BadHours(gettext("Write hours as 09:00-17:00, or 08:00-12:00, 13:00-16:00."))
        hours = [int(number) for number in match.groups()]
        opens, closes = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
        if not opens < closes <= 24 * 60:
            message = gettext("“{hours}” ends before it begins. Write hours as 09:00-17:00.")
            raise BadHours(message.format(hours=part))
        if spans and opens < spans[-1][1]:
            message = gettext("“{hours}” begins before the hours in front of it have ended.")
            raise BadHours(message.format(hours=part))
        spans.append((opens, closes))
    return tuple(spans)


def format_spans(spans: Sequence[Span]) -> str:
    """Format spans as :func:`read_spans` parses them."""
    return ", ".join(f"{clock(opens)}-{clock(closes)}" for opens, closes in spans)


def clock(minutes: int) -> str:
    """Format minutes of a day as ``09:05``."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def read_closed(line: str) -> Closed:
    """Parse a line such as ``2026-12-24 to 2027-01-01: winter break``. Raises BadHours."""
    days, _, why = line.partition(":")
    match = _DAY.fullmatch(days.strip())
    try:
        first = date.fromisoformat(match[1] if match else "")
        last = date.fromisoformat(match[2]) if match and match[2] else first
    except ValueError:
        first, last = date.max, date.min
    if last < first:
        message = gettext(
            "“{day}” is no day. Write one a line: 2026-12-24, or 2026-12-24 to 2027-01-01: "
            "winter break."
        )
        raise BadHours(message.format(day=line[:60]))
    return Closed(first, last, why.strip())


def format_closed(closed: Closed) -> str:
    """Format days as :func:`read_closed` parses them."""
    until = f" to {closed.last}" if closed.last != closed.first else ""
    return f"{closed.first}{until}" + (f": {closed.why}" if closed.why else "")

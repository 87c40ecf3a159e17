"""Amounts, days, places and opening hours that services and agencies have beside their texts.

Each is a short text, so that a cell of a table can carry it. Opening hours are those of schema.org
(``openingHours``), with dates for what differs from a week. Every reader raises ``ValueError``
with a predicate of the text that says what to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final

WEEKDAYS: Final = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
LONGEST_CLOSURE: Final = timedelta(days=366)

Span = tuple[int, int]
"""Opening and closing time in minutes of a day."""

_NOTE = r"(?: \((?P<note>[^()]+)\))?"
_AMOUNT = re.compile(rf"(?P<value>\d{{1,9}}(?:\.\d{{1,3}})?) (?P<currency>[A-Z]{{3}}){_NOTE}")
_DAYS = re.compile(
    r"(?P<least>[1-9]\d{0,3})(?:(?:-| to )(?P<most>[1-9]\d{0,3}))?(?P<working> working)?"
)
_DAY = rf"(?:{'|'.join(WEEKDAYS)})"
_WEEKLY = re.compile(rf"(?P<days>{_DAY}(?:-{_DAY})?(?:,{_DAY}(?:-{_DAY})?)*) (?P<times>\S+)")
_DATED = re.compile(
    r"(?P<first>\d{4}-\d\d-\d\d)(?: to (?P<last>\d{4}-\d\d-\d\d))? "
    rf"(?P<times>closed|\d\d:\d\d-\d\d:\d\d){_NOTE}"
)
_TIMES = re.compile(r"([01]\d|2[0-4]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)")


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of money (0: free of charge), and what it is for; empty for everything."""

    value: Decimal
    currency: str
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Days:
    """How long something takes: from ``least`` to ``most`` days, or working days."""

    least: int
    most: int
    working: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """One line of opening hours: of ``weekdays`` (Monday is 0), or of the days from ``first`` to
    ``last``, both included. ``span`` is None where it is closed."""

    weekdays: tuple[int, ...]
    span: Span | None
    first: date = date.max
    last: date = date.min
    note: str = ""


def read_amount(text: str) -> Amount:
    """Read ``45.00 EUR`` or ``45.00 EUR (standard copy)``."""
    if not (match := _AMOUNT.fullmatch(text)):
        raise _unreadable(text, "45.00 EUR, or 45.00 EUR (standard copy); 0 EUR is free of charge")
    return Amount(Decimal(match["value"]), match["currency"], match["note"] or "")


def read_days(text: str) -> Days:
    """Read ``14``, ``5-10`` or ``5 to 10`` (no date to a spreadsheet), or ``5-10 working``."""
    match = _DAYS.fullmatch(text)
    least, most = (int(match["least"]), int(match["most"] or match["least"])) if match else (1, 0)
    if match is None or least > most:
        raise _unreadable(text, "days as 14, or as 5-10, or as 5-10 working")
    return Days(least, most, bool(match["working"]))


def read_place(text: str) -> tuple[str, str]:
    """Read ``City Hall, Market Square 1``: return the name and the address behind the comma."""
    name, _, address = map(str.strip, text.partition(","))
    if not (name and address):
        raise _unreadable(text, "a name, a comma and the address: City Hall, Market Square 1")
    return name, address


def read_opening(text: str) -> Opening:
    """Read ``Mo-Fr 09:00-16:00``, ``2026-12-24 closed`` or ``2026-12-31 09:00-12:00``, the last two
    also as ``2026-12-24 to 2027-01-01`` and with a reason in brackets behind."""
    hint = "Mo-Fr 09:00-16:00, or for a date 2026-12-24 closed, or 2026-12-31 09:00-12:00"
    if match := _WEEKLY.fullmatch(text):
        weekdays = [day for part in match["days"].split(",") for day in _weekdays(part)]
        if span := _span(match["times"]):
            return Opening(tuple(dict.fromkeys(weekdays)), span)
    elif match := _DATED.fullmatch(text):
        span = _span(match["times"])
        try:
            first = date.fromisoformat(match["first"])
            last = date.fromisoformat(match["last"] or match["first"])
        except ValueError:
            raise _unreadable(text, hint) from None
        if first <= last <= first + LONGEST_CLOSURE and (span or match["times"] == "closed"):
            return Opening((), span, first, last, match["note"] or "")
    raise _unreadable(text, hint)


READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "amounts": read_amount,
    "processing_days": read_days,
    "places": read_place,
    "hours": read_opening,
}
"""What reads a value of each column, or an item where that is a list."""


def week(hours: Sequence[str]) -> tuple[tuple[Span, ...], ...]:
    """Return the times of seven days, Monday first, of checked ``hours``."""
    openings = [opening for opening in map(read_opening, hours) if opening.span]
    return tuple(
        tuple(sorted(o.span for o in openings if o.span and day in o.weekdays)) for day in range(7)
    )


def exceptions(hours: Sequence[str]) -> list[Opening]:
    """Return the lines of checked ``hours`` that are for dates, in their order."""
    return [opening for opening in map(read_opening, hours) if not opening.weekdays]


def overlap(hours: Sequence[str]) -> str:
    """Return the weekday whose times overlap in checked ``hours``, empty for none."""
    for name, spans in zip(WEEKDAYS, week(hours), strict=True):
        if any(before[1] > after[0] for before, after in pairwise(spans)):
            return name
    return ""


def _weekdays(part: str) -> list[int]:
    first, _, last = part.partition("-")
    start, end = WEEKDAYS.index(first), WEEKDAYS.index(last or first)
    # "Sa-Mo" goes over the end of the week.
    return [day % 7 for day in range(start, end + 1 if end >= start else end + 8)]


def _span(times: str) -> Span | None:
    """Return a span within one day, None for anything else."""
    if not (match := _TIMES.fullmatch(times)):
        return None
    hours = [int(number) for number in match.groups()]
    opens, closes = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
    return (opens, closes) if opens < closes <= 24 * 60 else None


def _unreadable(text: str, hint: str) -> ValueError:
    return ValueError(f"is {text[:80]!r}: write {hint}")

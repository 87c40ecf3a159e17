"""Charts as geometry: the templates write it as SVG, without script and without inline style.

Across, lengths are per cent of the chart's width; down, they are CSS pixels from its top. So a
chart fits any page while its words keep their size. What differs by colour differs by pattern too.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from django.utils.formats import date_format
from django.utils.translation import gettext

TOP, PLOT, FOOT = 14.0, 170.0, 28.0
"""Pixels above the highest value, for the values, and for the days under them."""
ROW, BAR = 48.0, 16.0
"""Pixels of a row of bars whose name is one line, and of the bar in it."""
LABEL, LINE = 34, 20.0
"""Characters of a line of a bar's name, which a phone has room for, and its pixels."""
WIDEST = 76.0
"""Per cent of the width that the longest bar takes: its number stands behind it."""
TICKS = 4

Day = tuple[date, Mapping[str, float]]
Words = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Line:
    """A value's height and its words."""

    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A day under the chart; ``anchor`` is SVG's."""

    x: str
    words: str
    anchor: Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Part:
    """One series' share of a column."""

    series: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """A day's values on top of each other."""

    x: str
    width: str
    words: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A day's value of a series."""

    series: int
    x: str
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A named value; ``y`` is where its row begins, ``label`` its name in lines."""

    y: float
    width: str
    label: tuple[str, ...]
    words: str

    @property
    def under(self) -> float:
        """The top of the bar below the name, in pixels."""
        return self.y + LINE * (len(self.label) - 1)


@dataclass(frozen=True, slots=True)
class Chart:
    """What every chart has: ``id`` names it on the page, ``legend`` its series from 1."""

    kind: Literal["days", "bars"]
    id: str
    title: str
    description: str
    height: float
    legend: tuple[tuple[int, str], ...] = ()
    lines: tuple[Line, ...] = ()
    ticks: tuple[Tick, ...] = ()
    columns: tuple[Column, ...] = ()
    points: tuple[Point, ...] = ()
    joined: tuple[tuple[Point, Point], ...] = ()
    bars: tuple[Bar, ...] = ()

    @property
    def foot(self) -> float:
        """Where the words under the chart stand."""
        return self.height - 6


def columns(
    name: str, title: str, description: str, days: Sequence[Day], series: Mapping[str, str]
) -> Chart:
    """Return a chart of values by day, the series (key and name) on top of each other."""
    top = _ceiling(max((sum(values.values()) for _, values in days), default=0))
    return Chart(
        "days",
        name,
        title,
        description,
        TOP + PLOT + FOOT,
        legend=_legend(series) if len(series) > 1 else (),
        lines=_lines(top, _short),
        ticks=_ticks([day for day, _ in days]),
        columns=tuple(_column(i, len(days), day, series, top) for i, day in enumerate(days)),
    )


def points(
    name: str,
    title: str,
    description: str,
    days: Sequence[Day],
    series: Mapping[str, str],
    words: Words,
) -> Chart:
    """Return a chart of points by day, joined; a day without a value has no point."""
    top = max((value for _, values in days for value in values.values()), default=0)
    found: list[Point] = []
    joined: list[tuple[Point, Point]] = []
    for place, key in enumerate(series, start=1):
        last: Point | None = None
        for index, (day, values) in enumerate(days):
            if key not in values:
                continue
            text = f"{day_words(day)}: {series[key]} {words(values[key])}"
            x = percent((index + 0.5) / len(days) * 100)
            point = Point(place, x, _y(values[key], top), text)
            found.append(point)
            if last is not None:
                joined.append((last, point))
            last = point
    return Chart(
        "days",
        name,
        title,
        description,
        TOP + PLOT + FOOT,
        legend=_legend(series),
        lines=_lines(top, words),
        ticks=_ticks([day for day, _ in days]),
        points=tuple(found),
        joined=tuple(joined),
    )


def bars(name: str, title: str, description: str, values: Sequence[tuple[str, int]]) -> Chart:
    """Return a chart of named values, a row each."""
    top = max((value for _, value in values), default=0) or 1
    drawn, y = [], 0.0
    for label, value in values:
        # SVG folds no text.
        lines = tuple(textwrap.wrap(label, LABEL)) or ("",)
        drawn.append(Bar(y, percent(value / top * WIDEST), lines, number(value)))
        y = drawn[-1].under + ROW
    return Chart("bars", name, title, description, y, bars=tuple(drawn))


def number(value: float) -> str:
    """Return a number with commas between thousands."""
    return f"{value:,.0f}"


def _short(value: float) -> str:
    """Return a number of the scale, which has no room for many digits."""
    million, thousand = 1_000_000, 1_000
    if value >= million:
        return gettext("{number} million").format(number=f"{value / million:g}")
    if value >= 10 * thousand:
        return gettext("{number} k").format(number=f"{value / thousand:g}")
    return number(value)


def percent(value: float) -> str:
    """Return a length across a chart."""
    return f"{value:.3f}%"


def day_words(day: date) -> str:
    """Return a day in words."""
    return date_format(day, "j M")


def _column(index: int, count: int, day: Day, series: Mapping[str, str], top: float) -> Column:
    at, values = day
    parts, under = [], 0.0
    for place, key in enumerate(series, start=1):
        value = values.get(key, 0)
        if value:
            base = _y(under, top)
            under += value
            parts.append(Part(place, _y(under, top), round(base - _y(under, top), 2)))
    text = ", ".join(
        f"{name.lower()} {number(values[key])}" if len(series) > 1 else number(values[key])
        for key, name in series.items()
        if values.get(key)
    )
    text = text or gettext("none")
    gap = 100 / count * 0.15
    return Column(
        percent(100 / count * index + gap),
        percent(100 / count - 2 * gap),
        f"{day_words(at)}: {text}",
        tuple(parts),
    )


def _y(value: float, top: float) -> float:
    return round(TOP + PLOT * (1 - value / (top or 1)), 2)


def _lines(top: float, words: Words) -> tuple[Line, ...]:
    values = (0, top / 2, top) if top > 1 else (0, top)
    return tuple(Line(_y(value, top), words(value)) for value in dict.fromkeys(values))


def _legend(series: Mapping[str, str]) -> tuple[tuple[int, str], ...]:
    return tuple(enumerate(series.values(), start=1))


def _ticks(days: Sequence[date]) -> tuple[Tick, ...]:
    """Name some days, evenly spread, the first and the last among them."""
    shown = min(TICKS, len(days))
    places = [round(i * (len(days) - 1) / max(1, shown - 1)) for i in range(shown)]
    ticks = []
    for place in dict.fromkeys(places):
        anchor: Literal["start", "middle", "end"] = "middle"
        x = (place + 0.5) / len(days) * 100
        # At an edge the words would stick out of the chart.
        if x < 100 / (2 * TICKS):
            anchor, x = "start", place / len(days) * 100
        elif x > 100 - 100 / (2 * TICKS):
            anchor, x = "end", (place + 1) / len(days) * 100
        ticks.append(Tick(percent(x), day_words(days[place]), anchor))
    return tuple(ticks)


def _ceiling(value: float) -> float:
    """Return an even, round number that is not below ``value``: 2, 4, 6, 10, 20, 40 ..."""
    if value <= 2:
        return 2.0
    power: float = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value)

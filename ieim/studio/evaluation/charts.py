"""The report's plots as inline SVG: plain shapes, coloured by the page's own style sheet.

Each has a title and a description for people who do not see it, and stands beside a table with the
same figures. Lengths are in the units of the view box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH = 640
_LABEL = 216
_ROW = 34
_BAR = 20
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def bars(name: str, title: str, rows: Sequence[tuple[str, float, str, str]]) -> SafeString:
    """Return horizontal bars: ``(label, share 0 to 1, what is written behind it, class)``."""
    span = WIDTH - _LABEL - 120
    shapes = format_html_join(
        "",
        '<text class="label" x="{}" y="{}">{}</text><rect class="track" x="{}" y="{}" width="{}" '
        'height="{}"/><rect class="{}" x="{}" y="{}" width="{}" height="{}"/>'
        '<text class="value" x="{}" y="{}">{}</text>',
        (
            (
                *(_LABEL - 10, y + 15, label),
                *(_LABEL, y, span, _BAR),
                *(kind, _LABEL, y, round(span * share, 1), _BAR),
                *(_LABEL + span + 8, y + 15, text),
            )
            for y, (label, share, text, kind) in _rows(rows)
        ),
    )
    said = "; ".join(f"{label}: {text}" for label, _, text, _ in rows)
    return _svg(name, title, said, _ROW * len(rows) + 4, shapes)


def stacked(
    name: str, title: str, kinds: Sequence[str], rows: Sequence[tuple[str, Mapping[str, int]]]
) -> SafeString:
    """Return one bar of full length a row, parted by the counts of ``kinds`` in their order."""
    span = WIDTH - _LABEL - 60
    shapes: list[SafeString] = []
    for y, (label, counts) in _rows(rows):
        total = sum(counts.values())
        shapes.append(
            format_html('<text class="label" x="{}" y="{}">{}</text>', _LABEL - 10, y + 15, label)
        )
        x = float(_LABEL)
        for kind in kinds:
            width = span * counts[kind] / total if total else 0.0
            if width:
                shapes.append(_part(kind, x, y, width, counts[kind]))
            x += width
        shapes.append(
            format_html('<text class="value" x="{}" y="{}">{}</text>', x + 8, y + 15, total)
        )
    said = "; ".join(
        f"{label}: " + ", ".join(f"{counts[kind]} {kind}" for kind in kinds if counts[kind])
        for label, counts in rows
    )
    body = format_html_join("", "{}", ((shape,) for shape in shapes))
    return _svg(name, title, said, _ROW * len(rows) + 4, body)


def curve(name: str, title: str, data: Mapping[str, Any]) -> SafeString:
    """Return risk (upwards) against coverage (to the right) of a result's ``risk_coverage``."""
    points: Sequence[Mapping[str, float]] = data["points"]
    left, top, wide, high = 70, 16, 540, 300
    limit: float = data["risk_limit"]
    highest = max([limit * 2, *(point["risk"] for point in points)])
    scale = next((each for each in (0.2, 0.4, 0.6, 0.8, 1.0) if each >= highest), 1.0)

    def at(coverage: float, risk: float) -> tuple[float, float]:
        return round(left + wide * coverage, 1), round(top + high * (1 - risk / scale), 1)

    grid = format_html_join(
        "",
        '<line class="grid" x1="{0}" y1="{2}" x2="{1}" y2="{2}"/>'
        '<text class="axis end" x="{3}" y="{4}">{5}</text>',
        (
            (
                left,
                left + wide,
                at(0, scale * t)[1],
                left - 8,
                at(0, scale * t)[1] + 4,
                _pc(scale * t),
            )
            for t in _TICKS
        ),
    )
    below = format_html_join(
        "",
        '<text class="axis middle" x="{}" y="{}">{}</text>',
        ((at(t, 0)[0], top + high + 20, _pc(t)) for t in _TICKS),
    )
    line = " ".join("{},{}".format(*at(p["coverage"], p["risk"])) for p in points)
    dots = format_html_join(
        "",
        '<circle class="dot" cx="{}" cy="{}" r="2.5"/>',
        (at(p["coverage"], p["risk"]) for p in points),
    )
    best, said = SafeString(""), "No threshold keeps the risk that low."
    if data["at_limit"]:
        widest = data["at_limit"]
        x, y = at(widest["coverage"], widest["risk"])
        best = format_html('<circle class="best" cx="{}" cy="{}" r="7"/>', x, y)
        said = (
            f"At a risk of no more than {_pc(limit)} the coverage is {_pc(widest['coverage'])}, "
            f"with a threshold of {widest['threshold']:.2f}."
        )
    body = format_html(
        '{}{}<line class="limit" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<polyline class="curve" points="{}"/>{}{}'
        '<text class="axis middle" x="{}" y="{}">Coverage: cases answered</text>'
        '<text class="axis middle" transform="translate(16 {}) rotate(-90)">'
        "Risk: wrong among them</text>",
        *(grid, below, left, at(0, limit)[1], left + wide, at(0, limit)[1]),
        *(line, dots, best, left + wide / 2, top + high + 44, top + high / 2),
    )
    return _svg(name, title, said, top + high + 56, body)


def _rows(rows: Sequence[Any]) -> list[tuple[int, Any]]:
    return [(place * _ROW + 4, row) for place, row in enumerate(rows)]


def _part(kind: str, x: float, y: int, width: float, count: int) -> SafeString:
    # A hair's breadth between the parts: they can be told apart without their colours.
    shape = format_html(
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>',
        *(kind, round(x, 1), y, round(max(width - 2, 1), 1), _BAR),
    )
    if width < 8 * len(str(count)) + 8:
        return shape
    text = format_html(
        '<text class="in {}" x="{}" y="{}">{}</text>', kind, round(x + width / 2, 1), y + 15, count
    )
    return format_html("{}{}", shape, text)


def _pc(share: float) -> str:
    return f"{share:.0%}"


def _svg(name: str, title: str, said: str, height: float, body: SafeString) -> SafeString:
    return format_html(
        '<svg role="img" aria-labelledby="{0}-title {0}-said" viewBox="0 0 {1} {2}">'
        '<title id="{0}-title">{3}</title><desc id="{0}-said">{4}</desc>{5}</svg>',
        *(name, WIDTH, height, title, said, body),
    )

"""The growth as a small picture: how many times as long, or as many pages, as at the first size."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import log10
from pathlib import Path

from benchmarks.load.growth import Cost, growth_of

LINE, LEFT, WIDE, TOP = 18, 210, 300, 44
MOST = 30
"""Times; what grows with the number of turns would be at the right edge, or beyond it."""


def draw(found: Mapping[int, Mapping[str, Cost]], file: Path) -> None:
    """Write the plot of the largest size beside the smallest: a bar a thing, and the logarithm."""
    small, large = min(found), max(found)
    rows = list(found[large])
    high = TOP + LINE * len(rows) + 8

    def x(times: float) -> float:
        return round(LEFT + WIDE * min(1.0, log10(max(times, 1.0)) / log10(MOST)), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 60} {high}" '
        'font-family="sans-serif" font-size="11" role="img">',
        f"<title>Database pages read at {large:,} turns, as multiples of {small:,} turns</title>",
        f'<rect width="100%" height="100%" fill="#fff"/><text x="8" y="16" font-size="13">Pages of '
        f"the database read: {large:,} turns beside {small:,}</text>",
    ]
    for times, name, anchor in (
        (1, "as many", "end"),
        (log10(large) / log10(small), "logarithm", "start"),
        (10, "tenfold", "middle"),
    ):
        parts.append(
            f'<path d="M{x(times)} {TOP - 8}V{high}" stroke="#999" stroke-dasharray="3 3"/>'
            f'<text x="{x(times)}" y="{TOP - 12}" text-anchor="{anchor}" fill="#555">{name}</text>'
        )
    for number, what in enumerate(rows):
        y, times = TOP + LINE * number, growth_of(found, what)
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(what)}</text>'
            f'<rect x="{LEFT - 4}" y="{y + 2}" width="{x(times) - LEFT + 4}" height="{LINE - 7}" '
            f'fill="#1d70b8"/><text x="{x(times) + 4}" y="{y + 11}">{times:.2f}</text>'
        )
    file.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")

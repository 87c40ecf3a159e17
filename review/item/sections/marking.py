"""The citizen's message with its evidence marked in place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

LANES = 4
"""Underlines that are told apart below one another; a fifth overlapping mark shares the last."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Words of the message that something was read from.

    ``start`` and ``end`` are half-open offsets in code points. ``kind`` is a word for the style
    (``intent``, ``risk``, ...), ``what`` names the kind for people and ``name`` what was read.
    ``sure`` is the model's confidence with two decimals, empty where there is none. ``found_by``
    says in words what found it, empty for a model. ``number`` and ``lane`` are given by
    :func:`numbered`.
    """

    start: int
    end: int
    kind: str
    what: str
    name: str
    quote: str
    sure: str = ""
    found_by: str = ""
    occurrences: int = 1
    sha256: str = ""
    number: int = 0
    lane: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the message under the same marks; ``begins`` are those that begin with it.

    ``marks`` come with the lowest underline first: each is drawn around the next.
    """

    text: str
    marks: tuple[Mark, ...]
    begins: tuple[Mark, ...]


def numbered(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Return the marks in the order of the text, numbered from 1, each with a lane of its own.

    Marks that overlap never share a lane, as long as there are enough of them.
    """
    busy: list[int] = []
    placed = []
    for number, mark in enumerate(sorted(marks, key=lambda m: (m.start, -m.end)), 1):
        free = [lane for lane, until in enumerate(busy) if until <= mark.start]
        lane = free[0] if free else len(busy)
        if lane == len(busy):
            busy.append(0)
        busy[lane] = mark.end
        placed.append(replace(mark, number=number, lane=min(lane, LANES - 1)))
    return tuple(placed)


def segments(text: str, marks: Sequence[Mark]) -> tuple[Segment, ...]:
    """Return the whole text cut wherever a mark begins or ends. Joined, it is the text again."""
    inside = [m for m in marks if 0 <= m.start < m.end <= len(text)]
    edges = {0, len(text), *(m.start for m in inside), *(m.end for m in inside)}
    cuts = sorted(edges)
    found = []
    for start, end in pairwise(cuts):
        over = [m for m in inside if m.start <= start and end <= m.end]
        over.sort(key=lambda m: -m.lane)
        begins = sorted((m for m in over if m.start == start), key=lambda m: m.number)
        found.append(Segment(text[start:end], tuple(over), tuple(begins)))
    return tuple(found)

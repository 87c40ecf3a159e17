"""What a message wishes: the pieces of it that each find a service of their own.

A message is cut where its language puts the items of a list apart ("the birth paper, and a
passport"; the CLDR knows how). A piece is a wish of its own where meaning and words clearly find
one service for it and another one for each of the others. Figures: docs/decisions/0046-wishes.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from babel import UnknownLocaleError
from babel.lists import format_list
from numpy.typing import NDArray

from ieim.pipeline.message import language as languages
from ieim.search.clauses import Clause, clause
from ieim.search.engine import MEANING, Near

CLEARLY: Final = 2.5
"""So much more evidence another service has for a message that is clearly about that one. Chosen on
talks that are made of the development questions, where taps cost as much as wrong answers save."""

EACH: Final = 1.5
FINDS: Final = 2.0
"""So much more each of two pieces has for a service of its own, and so much it has for it at least:
what is only told finds less."""

_NEARER: Final = 0.25
"""And so much of it has to be of meaning, that no rare word decides alone ("bring")."""

_ABOUT: Final = 3
"""So many services a text may be about."""

_ITEM: Final = "\x00"
_MARKS: Final = re.compile(r"[,:،、，；：]\s*")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Each service's fused score for a text, and how near it is."""

    scores: NDArray[np.floating]
    near: Near

    def finds_another_than(self, about: Evidence) -> bool:
        """Whether one service has clearly more of it than those that ``about`` is about."""
        others = np.argsort(-about.scores, kind="stable")[:_ABOUT]
        others = others[np.append(True, about.scores[others[1:]] > 0)]  # the average entry has 0
        return self._is_ahead_of(others, CLEARLY)

    def finds_its_own_beside(self, other: Evidence) -> bool:
        """Whether one service has clearly more of it than the one that ``other`` finds."""
        return self._is_ahead_of(np.array([other.scores.argmax()]), EACH)

    def _is_ahead_of(self, others: NDArray[np.intp], by: float) -> bool:
        best = self.scores.argmax()
        nearer = MEANING * float(self.near[best] - self.near[others].max())
        return nearer >= _NEARER and bool(self.scores[best] - self.scores[others].max() >= by)


def pieces(read: Sequence[Clause], text: str) -> list[Clause]:
    """Return the items that the clauses of ``text`` list, and those that list nothing."""
    separators = _separators(tuple(languages.likely(text, languages.detectable())))
    return [piece for each in read for piece in _items(each, separators)]


def _items(whole: Clause, separators: re.Pattern[str]) -> Iterator[Clause]:
    start, end = 0, whole.end - whole.start
    for found in separators.finditer(whole.text, 0, end):
        yield from clause(whole.text, start, found.start(), "", whole.start)
        start = found.end()
    mark = "?" if whole.is_question else ""
    yield from clause(whole.text[:end], start, end, mark, whole.start) if start else (whole,)


def distinct(found: Mapping[Clause, Evidence]) -> set[Clause]:
    """Return the pieces that find a service of their own, the surest one of those that find the
    same; none where there are not two."""
    surest = sorted(found, key=lambda each: -float(found[each].scores.max()))
    kept: list[Clause] = []
    for each in surest:
        own = found[each]
        if all(
            own.finds_its_own_beside(found[other]) and found[other].finds_its_own_beside(own)
            for other in kept
        ):
            kept.append(each)
    return set(kept) if len(kept) > 1 else set()


@cache
def _separators(codes: tuple[str, ...]) -> re.Pattern[str]:
    """Return what stands between the items of a list in the languages of ``codes``."""
    words = {word for code in codes for word in _between(code)}
    longest = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile("|".join([*longest, _MARKS.pattern]), re.IGNORECASE)


def _between(code: str) -> Iterator[str]:
    for count in (2, 3):
        try:
            listed = format_list([_ITEM] * count, locale=code)
        except (UnknownLocaleError, ValueError):
            return  # a language that the CLDR does not know
        yield from filter(str.strip, listed.split(_ITEM))

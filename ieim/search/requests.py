"""The parts of a message in which a request may stand: its sentences, and the items of a list.

A message is cut where its language puts the items of a list apart ("the birth paper, and a
passport"), as the CLDR knows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from babel.lists import format_list

from ieim.pipeline.ports import Span
from ieim.pipeline.sentences import sentences

LANGUAGES: Final = ("en", "de", "es", "fr", "zh", "ar", "fil")
MOST: Final = 8
"""A message of more parts tells a story; its sentences alone are looked at then, the first ones."""

SHORTEST: Final = 6
"""Characters of the shortest part that is looked at."""


def segments(text: str) -> list[Span]:
    """Return the parts of a message, half-open code points, in order; one for a message of one."""
    whole = [Span(s.start, s.end) for s in sentences(text)]
    parts = [part for sentence in whole for part in _items(text, sentence)]
    parts = parts if len(parts) <= MOST else whole[:MOST]
    return [part for part in parts if part.end - part.start >= SHORTEST]


def _items(text: str, sentence: Span) -> Iterator[Span]:
    start = sentence.start
    for separator in [*_between().finditer(text, sentence.start, sentence.end), None]:
        end = sentence.end if separator is None else separator.start()
        if text[start:end].strip():
            yield Span(start, end)
        start = sentence.end if separator is None else separator.end()


@cache
def _between() -> re.Pattern[str]:
    """Return what stands between the items of a list, in any of :data:`LANGUAGES`."""
    words = set()
    for language in LANGUAGES:
        for style in ("standard", "or"):
            middle = format_list(["1", "2"], style=style, locale=language)
            words.add(re.escape(middle[1:-1].strip()))
    alternatives = "|".join(sorted(words, key=lambda word: (-len(word), word)))
    return re.compile(rf"[,;،؛，；、]|(?<=\s)(?:{alternatives})(?=\s)|和|或", re.IGNORECASE)

"""Sentences: a text as the parts that each say one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(r"[^\n\r\x0b\x0c\x85\u2028\u2029]+")
_END = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:No|Dr|Mr|Ms|St))(?<!\b(?:e\.g|i\.e|Mrs|Inc|Ltd))"
    r"(?:[.!?…][\"”’')\]*_]*(?=\s)|[。！？｡])\s*"
    r"|(?<=\bNo)(?<![\w,;:(] No)\.\s+(?=\D)"  # the answer, not the number
)
_ASKS = ("?", "؟", "？")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•‣▪–—]\s+|\d{1,3}[.)]\s+)?")


class Sentence(NamedTuple):
    """A sentence or list item at code points ``start`` to ``end`` (half-open) of the text."""

    start: int
    end: int


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of ``text``; each line is its own, without the mark of its list item.

    Those with no letter or digit are left out. Linear; any str is taken.
    """
    for line in _LINE.finditer(text):
        start = line.start()
        if mark := _ITEM.match(text, start, line.end()):
            start = mark.end()
        for end in [match.end() for match in _END.finditer(text, start, line.end())] + [line.end()]:
            piece = text[start:end]
            left = len(piece) - len(piece.lstrip())
            if any(map(str.isalnum, piece)):
                yield Sentence(start + left, start + len(piece.rstrip()))
            start = end


def questions(text: str) -> list[Sentence]:
    """Return the sentences of ``text`` that end as a question does."""
    return [s for s in sentences(text) if text[s.start : s.end].endswith(_ASKS)]

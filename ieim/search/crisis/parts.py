"""The sentences of a message: a cry for help may stand among ordinary ones."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MOST: Final = 16
"""Sentences beside the whole message; of more, neighbours are read together. Each costs 3 ms."""

SHORTEST: Final = 4
"""Characters of the shortest sentence that is read alone."""

_SENTENCE = re.compile(r"[^.!?…。！？؟\n]*(?:[.!?…。！？؟\n]+|$)")


class Part(NamedTuple):
    """Half-open code point offsets into the text as sent."""

    start: int
    end: int


def parts(text: str) -> list[Part]:
    """Return the whole message, without white space around it, and its sentences if several."""
    whole = _stripped(text, 0, len(text))
    found = [_stripped(text, *match.span()) for match in _SENTENCE.finditer(text)]
    sentences = [part for part in found if part.end - part.start >= SHORTEST]
    if len(sentences) < 2:
        return [whole]
    together = -(-len(sentences) // MOST)
    groups = [sentences[i : i + together] for i in range(0, len(sentences), together)]
    return [whole, *(Part(group[0].start, group[-1].end) for group in groups)]


def _stripped(text: str, start: int, end: int) -> Part:
    said = text[start:end]
    start += len(said) - len(said.lstrip())
    return Part(start, max(start, end - (len(said) - len(said.rstrip()))))

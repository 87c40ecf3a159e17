"""The parts of a message: a cry for help may stand among ordinary sentences, or in one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

MOST: Final = 16
"""Sentences beside the whole message; of more, neighbours are read together. Each costs 3 ms."""

SHORTEST: Final = 4
"""Characters of the shortest sentence that is read alone."""

_PIECE: Final = (8, 3)
"""Characters and words of the shortest piece of a sentence that is."""

_SENTENCE = re.compile(r"[^.!?…。！？؟\n]*(?:[.!?…。！？؟\n]+|$)")
_CUT = re.compile(r"(?<=[,;،؛，；:–—])\s+|\s+(?=(?:and|und|et|y|e|و)\s)")
"""Between two things that are said in one sentence; a guess by the commonest words for "and"."""


class Part(NamedTuple):
    """Half-open code point offsets into the text as sent; ``piece`` of a sentence, or one."""

    start: int
    end: int
    piece: bool = False


def parts(text: str) -> list[Part]:
    """Return the whole message, without white space around it, its sentences if several, and then
    what stands between the commas of a sentence, as far as there is room."""
    whole = _stripped(text, 0, len(text))
    found = [_stripped(text, *match.span()) for match in _SENTENCE.finditer(text)]
    sentences = [part for part in found if part.end - part.start >= SHORTEST]
    if len(sentences) < 2:
        return [whole, *_pieces(text, [whole])[:MOST]]
    together = -(-len(sentences) // MOST)
    groups = [sentences[i : i + together] for i in range(0, len(sentences), together)]
    read = [Part(group[0].start, group[-1].end) for group in groups]
    return [whole, *read, *_pieces(text, read)[: MOST - len(read)]]


def _pieces(text: str, sentences: Sequence[Part]) -> list[Part]:
    """Return the pieces of the ``sentences`` that have several; what is short is read with none."""
    found: list[Part] = []
    for sentence in sentences:
        cuts = [match.end() for match in _CUT.finditer(text, sentence.start, sentence.end)]
        places = zip([sentence.start, *cuts], [*cuts, sentence.end], strict=True)
        pieces = [_stripped(text, *place) for place in places]
        long = [each for each in pieces if _is_long(text[each.start : each.end])]
        found += (each._replace(piece=True) for each in long if len(long) > 1)
    return found


def _is_long(piece: str) -> bool:
    characters, words = _PIECE
    return len(piece) >= characters and len(piece.split()) >= words


def _stripped(text: str, start: int, end: int) -> Part:
    said = text[start:end]
    start += len(said) - len(said.lstrip())
    return Part(start, max(start, end - (len(said) - len(said.rstrip()))))

"""Language: which one a text is in, where its sentences end, and how each joins clauses and tells
people to do things."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ieim.pipeline.claims.atoms import Atom
from ieim.pipeline.claims.lexicon import Lexicon, glue_of_all, plain

RELATIVE = {
    "en": frozenset(["that", "who", "whose", "which", "whom"]),
    "fr": frozenset(["qui", "dont", "que"]),
    "de": frozenset(),
    "es": frozenset(["que", "quien", "quienes"]),
}
AND = {
    "en": frozenset(["and", "but", "so", "because", "then"]),
    "fr": frozenset(["et", "mais", "car", "puis"]),
    "de": frozenset(["und", "aber", "denn", "weil"]),
    "es": frozenset(["y", "e", "pero", "porque"]),
}

_SOFT = frozenset(["ability", "permission"])
_WORD = re.compile(r"[^\W\d_]+")
_LINE = re.compile(r"[^\n\r\x0b\x0c\x85\u2028\u2029]+")
_END = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:No|Dr|Mr|Ms|St))(?<!\b(?:e\.g|i\.e|Mrs|Inc|Ltd))"
    r"(?:[.!?…][\"”’')\]*_]*(?=\s)|[。！？｡])\s*"
    r"|(?<=\bNo)(?<![\w,;:(] No)\.\s+(?=\D)"  # the answer, not the number
)
_ITEM = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•‣▪–—]\s+|\d{1,3}[.)]\s+)?")


def told(text: str) -> str:
    """Return the language (ISO 639-1) with the most glue words in ``text``, English on a tie."""
    words = [plain(word) for word in _WORD.findall(text)]
    counts = {name: sum(word in glue for word in words) for name, glue in glue_of_all().items()}
    return max(counts, key=lambda name: (counts[name], name == "en"), default="en")


def orders(found: Sequence[Atom], words: Lexicon) -> bool:
    """Whether a clause begins with an imperative: "Tell us", "but ask", "Faites", "Füllen Sie"."""
    joined = len(found) > 1 and found[0].word in AND[words.language]
    found = found[joined:]
    first = found[0]
    if first.kind not in ("word", "loose") or any(a.kind in _SOFT for a in found):
        return False
    if words.language == "fr":
        return first.word.endswith(("ez", "ites"))
    following = found[1] if len(found) > 1 else first
    if words.language == "de":
        return following.word == "sie"
    bare = words.language == "en" and not first.word.endswith("s")
    return bare and following.kind in ("glue", "us", "first", "within", "only", "before")


class Sentence(NamedTuple):
    """A sentence or list item at code points ``start`` to ``end`` (half-open) of the text."""

    start: int
    end: int


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of ``text``; a line is its own, without the mark of its list item.

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

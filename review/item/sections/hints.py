"""Near matches for evidence that was not found: shown to people, never used for deciding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

NEAR = 0.6
"""How alike (0 to 1) words have to be before they are worth showing."""
_LONGEST = 200
_COMPARED = 12
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Hint:
    """Words of the message that look like a quote that is not in it (code points, half-open)."""

    quote: str
    start: int
    end: int
    words: str


def near(text: str, quote: str) -> Hint | None:
    """Return the words of ``text`` that are most like ``quote``; None when nothing is near.

    Runs of about as many words are compared, without regard to case.
    """
    wanted = quote.strip()[:_LONGEST].casefold()
    size = len(_WORD.findall(wanted))
    words = [(m.start(), m.end()) for m in _WORD.finditer(text)]
    if not size or not words:
        return None
    parts = _parts(wanted)
    alike = [len(parts & _parts(text[start:end].casefold())) for start, end in words]
    runs = []
    for count in sorted({max(1, size - 1), size, size + 1}):
        for first in range(max(1, len(words) - count + 1)):
            last = min(first + count, len(words))
            runs.append((-sum(alike[first:last]), words[first][0], words[last - 1][1]))
    # Comparing letter by letter is slow: only what shares the most letters in a row is.
    candidates = [(start, end) for _, start, end in sorted(runs)[:_COMPARED]]
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(wanted)
    best, found = NEAR, None
    for start, end in candidates:
        matcher.set_seq1(text[start:end].casefold())
        ratio = matcher.ratio()
        if ratio > best:
            best, found = ratio, Hint(quote, start, end, text[start:end])
    return found


def _parts(words: str) -> set[str]:
    return {words[i : i + 3] for i in range(max(1, len(words) - 2))}

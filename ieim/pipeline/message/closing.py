"""Text closed up: its letters without the signs between them, for broken spellings.

``k i l l  m y s e l f``, ``k.i.l.l``, ``kill my self`` and ``su1cide`` are read like whole words.
Letters close up over spaces and hyphens, and over other signs around a single letter. Digits
and signs that look like a letter are read as one next to letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise

SHORTEST = 6
"""Letters of the shortest phrase that is looked for: fewer are soon found in other words."""

_TOKEN = re.compile(r"[$@]?[^\W_]+(?:[$@!|]+[^\W_]+)*")
_BETWEEN_WORDS = re.compile(r"[ \t_'’‘´`‐‑–-]{1,3}")
_AT_A_LETTER = re.compile(r"[^\n]{1,3}")
_LIKE = str.maketrans("03457@$1!|", "oeastas\ue000\ue000\ue000")
_ONE = "\ue000"
"""What may be an i or an l."""
_BREAK = "\n"
_EMPHASIS = re.compile(r"(.)\1\1")


@dataclass(frozen=True, slots=True)
class Closed:
    """A reading: its character ``k`` is at code point ``at[k]`` of the original.

    Only where ``begins`` (``ends``) is True it begins (ends) a word. With ``once`` repeated letters
    count once.
    """

    text: str
    at: Sequence[int]
    begins: Sequence[bool]
    ends: Sequence[bool]
    once: bool = False

    def find(self, needle: str) -> tuple[int, int] | None:
        """Return the first place where whole words are ``needle``, as half-open code points."""
        start = self.text.find(needle)
        while start >= 0:
            last = start + len(needle) - 1
            if self.begins[start] and self.ends[last]:
                return self.at[start], self.at[last] + 1
            start = self.text.find(needle, start + 1)
        return None


def readings(text: str) -> list[Closed]:
    """Return the ways to read ``text`` closed up: mostly one. Any str is taken; linear.

    There are more where a sign may be an i or an l, and where a letter of a word is drawn out: not
    where two words meet in one letter ("kann nicht").
    """
    read = _closed(text)
    result = [read]
    if _ONE in read.text:
        result = [replace(read, text=read.text.replace(_ONE, letter)) for letter in "il"]
    if _EMPHASIS.search(text.casefold()):
        result += [_once(reading) for reading in result]
    return result


def needle(phrase: str, *, once: bool) -> str:
    """Return ``phrase`` as a reading has it, "" where it is too short to be distinctive."""
    read = _once(_closed(phrase)) if once else _closed(phrase)
    return read.text if len(read.text) >= SHORTEST else ""


def _closed(text: str) -> Closed:
    letters, at = plain_letters(text)
    tokens = list(_TOKEN.finditer(letters))
    joined = [_joins(letters, left, right) for left, right in pairwise(tokens)]
    parts: list[str] = []
    where: list[int] = []
    begins: list[bool] = []
    ends: list[bool] = []

    def add(text: str, start: int) -> None:
        size = len(text)
        parts.append(text)
        where.extend(at[start : start + size])
        begins.extend(index == 0 for index in range(size))
        ends.extend(index == size - 1 for index in range(size))

    for number, token in enumerate(tokens):
        neighbours = [tokens[n][0] for n in (number - 1, number + 1) if _near(joined, number, n)]
        spelled = len(token[0]) == 1 and any(len(b) == 1 and b.isalpha() for b in neighbours)
        mixed = spelled or any(map(str.isalpha, token[0]))
        add(token[0].translate(_LIKE) if mixed else token[0], token.start())
        if token.end() < len(letters) and not _near(joined, number, number + 1):
            add(_BREAK, token.end())
    return Closed("".join(parts), where, begins, ends)


def _joins(letters: str, left: re.Match[str], right: re.Match[str]) -> bool:
    alone = min(len(left[0]), len(right[0])) == 1
    between = _AT_A_LETTER if alone else _BETWEEN_WORDS
    return between.fullmatch(letters, left.end(), right.start()) is not None


def _near(joined: Sequence[bool], number: int, other: int) -> bool:
    between = min(number, other)
    return 0 <= between < len(joined) and joined[between]


def plain_letters(text: str) -> tuple[str, list[int]]:
    """Return the text as plain letters, and the code point that each of them comes from."""
    pieces, at = [], []
    for index, character in enumerate(text):
        letters = _plain(character)
        pieces.append(letters)
        at += [index] * len(letters)
    return "".join(pieces), at


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    """Return a character in lower case, without its width, style, marks, or nothing to see."""
    lowered = unicodedata.normalize("NFKC", character).casefold()
    apart = unicodedata.normalize("NFD", lowered)
    return "".join(c for c in apart if unicodedata.category(c) not in ("Mn", "Cf", "Lm"))


def _once(read: Closed) -> Closed:
    runs = list(_runs(read.text))
    return Closed(
        "".join(read.text[start] for start, _ in runs),
        [read.at[start] for start, _ in runs],
        [read.begins[start] for start, _ in runs],
        [read.ends[end - 1] for _, end in runs],
        once=True,
    )


def _runs(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for _, run in groupby(text):
        size = sum(1 for _ in run)
        yield at, at + size
        at += size

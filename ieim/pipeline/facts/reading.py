"""Reading: text as facts are looked for in it, with the way back to the original.

Unlike :mod:`ieim.pipeline.evidence.folding`, which says when a quote is the same text, this keeps
case (the path of a URL has one) and line ends, and undoes every disguise of a digit or a Latin
letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["url", "email", "money", "date", "phone", "percent"]

MARKS = "".join(c for c in map(chr, range(0x300, 0x3100)) if unicodedata.category(c)[0] == "M")
"""The body of a character class: combining marks, which ``\\w`` leaves out of words."""

SYMBOLS = "$¢-¥\u058f\u060b\u07fe\u07ff\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20cf"
"""Likewise: currency signs."""

_PLAIN = {
    **dict.fromkeys("‘’‛ʼ′", "'"),
    **dict.fromkeys("“”„‟«»″", '"'),
    **dict.fromkeys("‐‑−", "-"),
    **dict.fromkeys("*`", ""),  # Markdown, and no part of any fact
    "‒": "–",
    "\u066b": ".",
    "\u066c": ",",
    "\u2044": "/",
}
# Marks and letters that nobody sees; what has category Cf is found by that.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_FULL_STOPS = "\u3002\uff61"
_LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
# Words that are read as they are, with single spaces between them.
_WORDS = re.compile(r"[!-)+-_a-~]++(?: [!-)+-_a-~]++)*")
_NEEDS_WORK = re.compile(r"[\x00-\x1f\x7f*`]|  ")
# A taller stack of marks is no text, and composing it takes quadratic time.
_MAX_MARKS = 8


class Reading(NamedTuple):
    """``text`` as read; character ``k`` of it comes from code point ``where[k]``.

    A run of white space is one space, or one line feed when it has a line end in it.
    """

    text: str
    where: Sequence[int]


class Hit(NamedTuple):
    """A fact in a reading: half-open offsets into the reading, and the normalised value."""

    kind: Kind
    start: int
    end: int
    value: str


def read(text: str) -> Reading:
    """Read ``text``; any str is taken. Linear in its length."""
    if text.isascii() and not _NEEDS_WORK.search(text):
        return Reading(text, range(len(text)))
    out: list[str] = []
    where: list[int] = []
    last = ""
    marks = 0
    at = 0
    while at < len(text):
        if words := _WORDS.match(text, at):
            out.append(words[0])
            where += range(at, words.end())
            last, marks, at = text[words.end() - 1], 0, words.end()
            continue
        for piece in _pieces(text[at], last):
            if piece in " \n" and last in (" ", "\n"):
                out[-1] = last = min(piece, last)
                continue
            if piece > "~" and unicodedata.category(piece)[0] == "M":
                marks += 1
                if marks > _MAX_MARKS or not (marks > 1 or last.isalpha()):
                    continue
            else:
                marks = 0
            out.append(piece)
            where.append(at)
            last = piece
        at += 1
    return Reading("".join(out), where)


def _pieces(character: str, last: str) -> str:
    """Return what is read for one character after ``last``."""
    if character.isspace():
        return "\n" if character in _LINE_ENDS else " "
    if character.isdigit() and not character.isdecimal() and last.isdecimal():
        return " "  # the number of a footnote, not of the amount before it
    if character in _FULL_STOPS and last.isalnum() and last.isascii():
        return "."  # as browsers read it in a host
    return _plain(character)


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    """Return what is read for one character: nothing, itself, or what it stands for."""
    if character in _PLAIN:
        return _PLAIN[character]
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    if unicodedata.category(character) in ("Cc", "Cf", "Me") or _UNSEEN.match(character):
        return ""
    if character.isnumeric():
        return character
    return "".join(_PLAIN.get(c, c) for c in unicodedata.normalize("NFKD", character))

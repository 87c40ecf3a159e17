"""Folding: what counts as the same text when a quote is looked up.

Text is folded to **units**. A unit is a base character with its combining marks, or a run of
white space; it is composed (NFC), lower case, and written with plain quotes, dashes, widths and
full stops. Characters that nobody sees fold to nothing. Accents, digits, signs and currency never
fold; a prime folds to an apostrophe, a double prime to nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from ieim.pipeline.message.screen import STRIPPED_CLASS, ZERO_WIDTH_CLASS

_INVISIBLE = re.compile(f"[{STRIPPED_CLASS}{ZERO_WIDTH_CLASS}]")

_PLAIN = {
    **dict.fromkeys("‘’‚‛ʼ‹›′", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
}
# Most text folds one to one: by lower case and these replacements. Runs of it go the quick way.
_SIMPLE_SPACES = " \t\n\r\u00a0\u2009\u202f\u3000"
_SIMPLE = (
    "!-~\u00a1-\u00ac\u00ae-\u00b4\u00b6-\u012f\u0131\u0134-\u017e\u0180-\u02af"  # Latin
    "\u0388-\u03cf\u0400-\u0481\u048a-\u052f\u0531-\u0586\u05d0-\u05ea"  # Greek to Hebrew
    "\u0620-\u064a\u0660-\u066f\u0671-\u06d3\u0904-\u0939\u0e01-\u0e30\u0e32\u0e33\u0e3f-\u0e46"
    "\u1e00-\u1e9a\u1e9c-\u1eff\u2010-\u2025\u2027\u2030-\u205e\u20a0-\u20c0\u2100-\u2328\u232b-\u27bf"
    "\u3001-\u3029\u3030-\u303f\u3041-\u3096\u309b-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"  # Han, Hangul
    "\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
)
_SIMPLE_RUN = re.compile(f"(?:[{_SIMPLE}]++[{_SIMPLE_SPACES}]?+)+")
_SIMPLE_REPLACEMENTS = tuple((_PLAIN | dict.fromkeys(_SIMPLE_SPACES[1:], " ") | {"ς": "σ"}).items())
# Ligatures and the ellipsis.
_SEVERAL_IN_ONE = frozenset(map(chr, chain(range(0xFB00, 0xFB18), (0x0132, 0x0133, 0x2026))))
_EMOJI_MODIFIERS = ("\U0001f3fb", "\U0001f3ff")
_VOWEL_AND_FINAL_JAMO = (("\u1160", "\u11ff"), ("\ud7b0", "\ud7fb"))
# A taller stack of marks is no text, and composing it takes quadratic time.
_MAX_CLUSTER = 64


# What a character does to a unit: it vanishes, is white space, begins one, or (a combining mark or
# the like) is part of the one before it.
NOTHING, SPACE, BASE, JOINS = range(4)


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text and the way back.

    Character ``k`` of ``text`` begins its unit at code point ``starts[k]`` of the original and ends
    it before ``ends[k]``; -1 where it is not the first, or not the last, of its unit.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def fold(text: str) -> Folded:
    """Fold ``text``; any str is taken. Linear in its length."""
    size = len(text)
    run = _SIMPLE_RUN.match(text)
    if run and run.end() == size:
        return Folded(_finish(text.lower()), range(size), range(1, size + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < size:
        end = _end_of_run(text, at)
        if end > at:
            pieces.append(text[at:end].lower())
            starts.extend(range(at, end))
            ends.extend(range(at + 1, end + 1))
            at = end
            continue
        unit, kind = fold_char(text[at])
        end = _end_of_unit(text, at) if kind >= BASE else at + 1
        if kind == SPACE and pieces and pieces[-1][-1] in _SIMPLE_SPACES:
            ends[-1] = end
        elif kind != NOTHING:
            if end - at > 1:
                unit = _compose(text[at:end])
            pieces.append(unit)
            starts.append(at)
            if len(unit) > 1:
                inner = [-1] * (len(unit) - 1)
                starts += inner
                ends += inner
            ends.append(end)
        at = end
    return Folded(_finish("".join(pieces)), starts, ends)


def _end_of_run(text: str, at: int) -> int:
    """Return where the simple characters from ``at`` on end; ``at`` when there are none."""
    run = _SIMPLE_RUN.match(text, at)
    if run is None:
        return at
    end = run.end()
    # What follows may be a mark, which takes the last character into its unit.
    if end < len(text) and fold_char(text[end])[1] in (JOINS, NOTHING):
        return end - 1
    return end


def _end_of_unit(text: str, at: int) -> int:
    """Return where the unit that begins at ``at`` ends.

    Invisible characters inside a unit belong to it, those after it do not.
    """
    end = at + 1
    for index in range(end, min(len(text), at + _MAX_CLUSTER)):
        kind = fold_char(text[index])[1]
        if kind == JOINS:
            end = index + 1
        elif kind != NOTHING:
            break
    return end


def _finish(lowered: str) -> str:
    for typographic, plain in _SIMPLE_REPLACEMENTS:
        if typographic in lowered:
            lowered = lowered.replace(typographic, plain)
    return lowered


fold_cached = lru_cache(maxsize=32)(fold)
"""For the text that many quotes are looked up in; few are kept, because they are people's words."""


def fold_quote(quote: str) -> str:
    """Return ``quote`` folded, without outer white space."""
    return fold(quote).text.strip(" ")


@lru_cache(maxsize=8192)
def fold_char(character: str) -> tuple[str, int]:
    """Return what one character folds to on its own, and what it does to a unit."""
    if _INVISIBLE.match(character):
        return "", NOTHING
    if character.isspace():
        return " ", SPACE
    plain = _plain(character)
    joins = (
        unicodedata.category(plain[0]).startswith("M")
        or _EMOJI_MODIFIERS[0] <= character <= _EMOJI_MODIFIERS[1]
        or any(first <= character <= last for first, last in _VOWEL_AND_FINAL_JAMO)
    )
    return _compose(character), JOINS if joins else BASE


@lru_cache(maxsize=8192)
def _compose(cluster: str) -> str:
    """Fold the characters of one unit."""
    plain = "".join(_plain(c) for c in cluster if not _INVISIBLE.match(c))
    # Composed after lower case: there is a ǰ, but no capital of it.
    return unicodedata.normalize("NFC", "".join(map(_lower, plain)))


def _plain(character: str) -> str:
    """Undo typography: quotes, dashes, ligatures, ellipsis, widths. May give two or three."""
    if character in _SEVERAL_IN_ONE:
        return unicodedata.normalize("NFKC", character)
    tag, _, code = unicodedata.decomposition(character).partition(" ")
    if tag in ("<wide>", "<narrow>"):
        character = chr(int(code, 16))
    return _PLAIN.get(character, character)


def _lower(character: str) -> str:
    """Fold case where that keeps one character one character.

    So ß never becomes ss, and İ keeps its dot (as i and U+0307). Marks have no case: U+0345 would
    become a letter.
    """
    if unicodedata.category(character).startswith("M"):
        return character
    folded = character.casefold()
    return folded if len(folded) == 1 else character.lower()

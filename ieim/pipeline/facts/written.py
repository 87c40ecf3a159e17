"""Amounts of money whose number is written out, in English: "forty-five euros"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ieim.pipeline.facts.currencies import ADJECTIVES, MINOR_UNITS, WORDS
from ieim.pipeline.facts.reading import Hit


def _numbered(words: str, first: int = 0) -> dict[str, int]:
    return {word: value for value, word in enumerate(words.split(), first)}


_UNITS = _numbered(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen"""
)
_TENS = _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 2)
_SCALES = {"thousand": 10**3, "million": 10**6}
_NUMBER = "|".join([*sorted((*_UNITS, *_TENS), key=len, reverse=True), "hundred", *_SCALES])
# "three of them won" is English; so is what has two letters.
_NAMES = {word: name for word, name in WORDS.items() if len(word) > 2 and word != "won"}
_PLURALS = {f"{word}s": name for word, name in _NAMES.items()}
_NAME_OF = _PLURALS | _NAMES
_WORD = re.compile(r"[^\W\d_]+")
# Repeats are bounded, so that a long row of numbers costs each of them the same.
_BEFORE = re.compile(
    rf"(?<![\w-])((?:an?\s(?=hundred|thousand|million))?(?:{_NUMBER})"
    rf"(?:(?:\s|-|\sand\s)(?:{_NUMBER})){{0,10}})\s(?:([a-z]{{2,12}}|u\.s\.)\s)?\Z",
    re.IGNORECASE,
)
_LONGEST = 120
"""How far before a currency its number may begin, in characters."""


def hits(text: str) -> Iterator[Hit]:
    """Yield every amount whose number is written in words before a currency's name."""
    # Most texts name no currency in words, and this is the quickest way to know.
    if _NAME_OF.keys().isdisjoint(_WORD.findall(text.lower())):
        return
    for currency in _WORD.finditer(text):
        name = _NAME_OF.get(currency[0].lower())
        if name is None:
            continue
        start = max(0, currency.start() - _LONGEST)
        number = _BEFORE.search(text, start, currency.start())
        if number is None or (number[2] and number[2].islower() and number[2] != "u.s."):
            continue
        if number[2]:
            name = ADJECTIVES.get((number[2].lower(), name), name)
        value = _value(number[1].lower())
        if name in MINOR_UNITS:
            amount = f"{value // 100}.{value % 100:02}".rstrip("0").rstrip(".")
            yield Hit("money", number.start(), currency.end(), f"{MINOR_UNITS[name]} {amount}")
        else:
            yield Hit("money", number.start(), currency.end(), f"{name} {value}")


def _value(words: str) -> int:
    total = part = 0
    for word in re.findall(r"[a-z]+", words):
        if word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        elif word == "hundred":
            part = max(part, 1) * 100
        else:
            part += _UNITS.get(word, 0) + 10 * _TENS.get(word, 0)
    return total + part

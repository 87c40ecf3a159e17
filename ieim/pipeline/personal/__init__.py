"""Personal data in a reading: what is recognised, how much work that may be, and by which words.

Recognisers yield :class:`Found`; :mod:`.redaction` joins them. The lists are ``vocabulary.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ieim.pipeline.facts.reading import read

KINDS = ("EMAIL", "IBAN", "CARD", "NATIONAL_ID", "PHONE", "DATE_OF_BIRTH", "ADDRESS")
"""Every kind that is recognised; of two that fit equally well the first one counts."""

SURE, LIKELY = range(2)
"""How certain a find is: checked or said to be so, or by its looks."""

MOST_CHECKS = 150
"""Checks by a library that one message may cost; numbers after that are taken unchecked."""


class Found(NamedTuple):
    """Personal data of a ``kind``, at half-open offsets into what was searched."""

    kind: str
    start: int
    end: int
    certainty: int = SURE


class Budget:
    """Counts the checks of one message."""

    def __init__(self) -> None:
        self.spent = 0

    def spend(self) -> None:
        """Count one check."""
        self.spent += 1

    @property
    def exhausted(self) -> bool:
        """Whether no more checks may be made."""
        return self.spent >= MOST_CHECKS


@cache
def vocabulary() -> dict[str, Any]:
    """Return the lists of ``vocabulary.yaml``."""
    path = Path(__file__).parent / "vocabulary.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def either(words: Iterable[str]) -> str:
    """Return a pattern for any of ``words`` as a reading shows them, the longest first.

    What it takes is bounded by the longest word, so it costs the same at every place of a text.
    """
    plain = sorted({read(word).text for word in words}, key=lambda word: (-len(word), word))
    rests: dict[str, list[str]] = {}
    for word in plain:
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    # By their first characters: of hundreds of words most places try none.
    return "|".join(f"{re.escape(first)}(?:{'|'.join(ends)})" for first, ends in rests.items())


def lead(listed: str, *, between: str) -> re.Pattern[str]:
    """Return a pattern that ends where a value may begin, after a word of the list ``listed``."""
    # Scripts without spaces have no edge of a word.
    words = vocabulary()[listed]
    first = "".join(sorted({re.escape(read(word).text[0]) for word in words}))
    pattern = rf"(?=[{first}])(?<![A-Za-z_])(?:{either(words)})(?![a-z_]){between}"
    return re.compile(pattern, re.IGNORECASE)

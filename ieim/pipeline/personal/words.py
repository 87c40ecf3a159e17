"""The words of ``words.yaml`` as patterns over a reading."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ieim.pipeline.facts.reading import read


def either(words: Iterable[str]) -> str:
    """Return a pattern for any of ``words`` as a reading shows them, the longest first.

    What it takes is bounded by the longest word, so it costs the same at every place of a text.
    """
    plain = sorted({read(word).text for word in words}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word) for word in plain)


@cache
def words() -> dict[str, Any]:
    """Return the lists of ``words.yaml``."""
    path = Path(__file__).parent / "words.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def lead(listed: str, *, between: str) -> re.Pattern[str]:
    """Return a pattern that ends where a value may begin, after a word of the list ``listed``."""
    # Scripts without spaces have no edge of a word.
    listing = either(words()[listed])
    return re.compile(rf"(?<![A-Za-z_])(?:{listing})(?![a-z_]){between}", re.IGNORECASE)

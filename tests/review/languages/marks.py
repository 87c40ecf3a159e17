"""What is left of the review's pages in a language of marks, without data and people's words."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LETTERS = re.compile(r"[^\W\d_]{2}")


def unmarked(told: Iterable[str], data: set[str], written: set[str]) -> set[str]:
    """Return which of ``told`` is a sentence of ours.

    ``data`` are names and codes, and what people have ``written`` may be there in parts.
    """
    known = sorted(data, key=len, reverse=True)
    return {
        text
        for text in told
        if not _of_people(text, written) and not _of_people(_without(text, known), written)
    }


def _without(text: str, known: list[str]) -> str:
    for each in known:
        if each in text:
            text = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", " ", text)
    return " ".join(text.split())


def _of_people(text: str, written: set[str]) -> bool:
    text = text.strip(" :.,…")
    return not _LETTERS.search(text) or any(text in each for each in written)

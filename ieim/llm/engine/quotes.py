"""Quotes: evidence cut from the citizen's own text, such as the gate will find there."""

from __future__ import annotations

from collections.abc import Iterable

from ieim.pipeline.evidence.locating import is_trivial, locate
from ieim.search.clauses import forms

MAX_CHARS = 200


def passages(text: str) -> list[str]:
    """Return the clauses of ``text`` as they stand there, none of them blank."""
    return [part.strip() for part in forms().clause_breaks.split(text) if part.strip()]


def quote(text: str, wanted: Iterable[str]) -> list[str]:
    """Return the first of ``wanted`` that is evidence in ``text``, as a list of one; else none."""
    for passage in wanted:
        snippet = _shortened(passage)
        if not is_trivial(snippet) and locate(text, snippet) is not None:
            return [snippet]
    return []


def _shortened(passage: str) -> str:
    if len(passage) <= MAX_CHARS:
        return passage
    return passage[: MAX_CHARS + 1].rpartition(" ")[0] or passage[:MAX_CHARS]

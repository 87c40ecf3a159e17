"""Words that people use for one another: ``thesaurus.txt``, by stems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from ieim.search.analysis import query_words


def alike(stem: str) -> Sequence[tuple[str, str]]:
    """Return the other words of the groups of ``stem``, as ``(stem, plain token)``."""
    return _groups().get(stem, ())


@cache
def _groups() -> Mapping[str, Sequence[tuple[str, str]]]:
    others: dict[str, dict[str, str]] = {}
    path = Path(__file__).with_name("thesaurus.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        group = [] if line.startswith("#") else query_words(line)
        for stem, _ in group:
            others.setdefault(stem, {}).update(word for word in group if word[0] != stem)
    return {stem: tuple(words.items()) for stem, words in others.items()}

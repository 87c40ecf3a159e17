"""The texts that teach what a crisis is, and what only sounds like one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True)
class Examples:
    """``texts`` and, for each of them, its flag: empty for a near miss or an ordinary text.

    ``near`` are the positions of the near misses.
    """

    texts: tuple[str, ...]
    codes: tuple[str, ...]
    near: tuple[int, ...]


@cache
def examples() -> Examples:
    """Return the examples, the near misses and the ordinary texts, in the order of their files."""
    taught = [
        (text, code)
        for code, languages in _file("examples").items()
        for texts in languages.values()
        for text in texts
    ]
    near = [
        text
        for languages in _file("near_misses").values()
        for texts in languages.values()
        for text in texts
    ]
    ordinary = [text for texts in _file("ordinary").values() for text in texts]
    return Examples(
        (*(text for text, _ in taught), *near, *ordinary),
        (*(code for _, code in taught), *([""] * (len(near) + len(ordinary)))),
        tuple(range(len(taught), len(taught) + len(near))),
    )


def _file(name: str) -> dict[str, dict[str, list[str]]]:
    path = Path(__file__).parent / f"{name}.yaml"
    content: dict[str, dict[str, list[str]]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content

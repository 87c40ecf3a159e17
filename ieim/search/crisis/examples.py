"""The texts that teach what a crisis is, and what only sounds like one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from ieim.pipeline.knowledge import RiskExample
from ieim.search import inquiry

EVERY: Final = 5
"""Every fifth of the messages that teach what an inquiry is stands here as well: with all of them
teaching takes six times as long, and sees no more."""

_SHORT: Final = (inquiry.Kind.FOLLOW_UP, inquiry.Kind.CORRECTION)
"""And of these all: "no, not that one" by itself is like much that people in danger write."""

_WITH_THANKS: Final = inquiry.Kind.THANKS_AND_MORE
"""And of these none: what they would change there was not measured."""


@dataclass(frozen=True, slots=True)
class Examples:
    """``texts`` and, for each of them, its flag: empty for a near miss or an ordinary text.

    ``near`` are the positions of the near misses.
    """

    texts: tuple[str, ...]
    codes: tuple[str, ...]
    near: tuple[int, ...]


class _Told(NamedTuple):
    code: str
    near: bool


def examples(own: Sequence[RiskExample] = ()) -> Examples:
    """Return the shipped examples, near misses and ordinary texts, in the order of their files, and
    after them an administration's ``own``.

    An own one with the text of a shipped one takes its place.
    """
    told = dict(_shipped())
    for each in own:
        danger = each.kind == "danger"
        told[each.text] = _Told(each.flag if danger else "", not danger)
    return Examples(
        tuple(told),
        tuple(each.code for each in told.values()),
        tuple(at for at, each in enumerate(told.values()) if each.near),
    )


@cache
def _shipped() -> tuple[tuple[str, _Told], ...]:
    return tuple(_read())


def _read() -> Iterator[tuple[str, _Told]]:
    for code, languages in _file("examples").items():
        for texts in languages.values():
            yield from ((text, _Told(code, near=False)) for text in texts)
    for languages in _file("near_misses").values():
        for texts in languages.values():
            yield from ((text, _Told("", near=True)) for text in texts)
    for ordinary in _file("ordinary").values():
        yield from ((text, _Told("", near=False)) for text in ordinary)
    # What people write on any day, so that trouble with an office is not taken for danger.
    everyday = (each for each in inquiry.examples() if each[1] is not _WITH_THANKS)
    for number, (text, kind) in enumerate(everyday):
        if kind in _SHORT or not number % EVERY:
            yield text, _Told("", near=False)


def _file(name: str) -> dict[str, Any]:
    path = Path(__file__).parent / f"{name}.yaml"
    # As safe, and ten times as fast over this much: every process with a model reads it.
    content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return content

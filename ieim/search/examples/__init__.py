"""The example texts that train the crisis classifier.

They are data files in this folder; ``python -m ieim.search.train`` makes the weights from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ieim.pipeline.knowledge import RiskExample
from ieim.search import kinds


class CrisisExamples(NamedTuple):
    """``codes`` has the risk flag of each text, empty for a near miss or an ordinary text; ``near``
    are the positions of the near misses."""

    texts: tuple[str, ...]
    codes: tuple[str, ...]
    near: tuple[int, ...]


def crisis(added: Sequence[RiskExample] = ()) -> CrisisExamples:
    """Return the shipped examples, near misses and ordinary texts, in the order of their files, and
    then an administration's ``added`` ones.

    An added one with the text of a shipped one takes its place.
    """
    by_text = {text: (code, near) for text, code, near in shipped_crisis()}
    for example in added:
        in_danger = example.kind == "danger"
        by_text[example.text] = (example.flag if in_danger else "", not in_danger)
    return CrisisExamples(
        tuple(by_text),
        tuple(code for code, _ in by_text.values()),
        tuple(index for index, (_, near) in enumerate(by_text.values()) if near),
    )


@cache
def crisis_languages() -> frozenset[str]:
    """Return the languages that there are examples of danger in."""
    return frozenset(language for _, language, _ in _texts("crisis"))


@cache
def shipped_crisis() -> tuple[tuple[str, str, bool], ...]:
    """Return text, risk flag and whether it is a near miss, for each text of the files."""
    rows = [(text, code, False) for code, _, text in _texts("crisis")]
    rows += [(text, "", True) for _, _, text in _texts("near_misses")]
    rows += [(text, "", False) for texts in _file("ordinary").values() for text in texts]
    # What people write on any day, so that trouble with an office is not taken for danger.
    everyday = (texts for languages in kinds.examples().values() for texts in languages.values())
    rows += [(text, "", False) for texts in everyday for text in texts]
    return tuple(rows)


def _texts(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield ``(topic, language, text)`` in the order of a file."""
    for topic, languages in _file(name).items():
        yield from ((topic, code, text) for code, texts in languages.items() for text in texts)


def _file(name: str) -> dict[str, Any]:
    path = Path(__file__).parent / f"{name}.yaml"
    # As safe as SafeLoader, and ten times as fast over this much.
    content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return content

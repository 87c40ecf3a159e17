"""The texts that teach what is asked of an administration, and what leans on the answer before."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

import yaml

_OWN_KIND: Final = ("follow_up", "correction", "thanks_and_more")
"""The topics of the inquiries that only a talk makes clear."""

_CLOSING: Final = ("greeting", "thanks", "acknowledgement")


class Kind(Enum):
    """``INQUIRY``: asked of an administration, and clear by itself. ``FOLLOW_UP``: asked of one,
    about what was answered before. ``CORRECTION``: asked of one, of something else than what was
    answered. ``THANKS_AND_MORE``: thanks, and beside them something that is wanted. ``CLOSING``: a
    greeting, thanks, or that it was understood. ``OTHER``: none of them.
    """

    INQUIRY = "inquiry"
    FOLLOW_UP = "follow_up"
    CORRECTION = "correction"
    THANKS_AND_MORE = "thanks_and_more"
    CLOSING = "closing"
    OTHER = "other"


@cache
def examples() -> tuple[tuple[str, Kind], ...]:
    """Return the examples in the order of their files, each with what it is."""
    return tuple(_examples())


def _examples() -> Iterator[tuple[str, Kind]]:
    for topic, languages in _file("inquiries").items():
        kind = Kind(topic) if topic in _OWN_KIND else Kind.INQUIRY
        yield from ((text, kind) for texts in languages.values() for text in texts)
    for topic, _, text in others():
        yield text, Kind.CLOSING if topic in _CLOSING else Kind.OTHER


def others() -> Iterator[tuple[str, str, str]]:
    """Yield ``(topic, language, text)`` for each example of what is asked of nobody."""
    for topic, languages in _file("others").items():
        yield from ((topic, code, text) for code, texts in languages.items() for text in texts)


def _file(name: str) -> dict[str, dict[str, list[str]]]:
    path = Path(__file__).parent / f"{name}.yaml"
    # As safe, and ten times as fast over this much: every process with a model reads it.
    content: dict[str, dict[str, list[str]]] = yaml.load(
        path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
    )
    return content

"""Cues: words of order in a text, and words by which a sentence leans on the one before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from ieim.pipeline.quoting.terms import sentences

_SPOKEN = {"tl": "fil"}
"""Codes that detection tells, and those of the pages."""

_HEAD = re.compile(r"[^.!?:\n]{1,80}[:：]\s+")
_JOINT = re.compile(r"[,;，；、]\s*+|(?:^|\s)[—–]\s++|(?<!\s)\s++(?=(?:and|et|und|y|at|و)\s)")
_JOIN_WORD = re.compile(r"(?:and|et|und|y|at|و)\s+", re.IGNORECASE)


class Segment(NamedTuple):
    """A sentence of a text, or a part of one that begins with a word of order.

    ``start`` and ``end`` are half-open code points; ``cue`` is the kind of that word, empty for
    none.
    """

    start: int
    end: int
    cue: str


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of a language: ``shown`` is the word of order of each kind as a citizen reads it."""

    shown: Mapping[str, str]
    order: re.Pattern[str]
    kinds: Mapping[str, str]
    opening: re.Pattern[str]
    inside: re.Pattern[str]
    free: re.Pattern[str]


def segments(text: str, language: str) -> Iterator[Segment]:
    """Yield the sentences of ``text``, each cut where a part of it begins with a word of order.

    ``language`` is a code of ISO 639-1; one without cues has no such words.
    """
    words = _cues(language)
    for start, end in sentences(text):
        if words is None:
            yield Segment(start, end, "")
            continue
        head = _HEAD.match(text, start, end)
        begins = head.end() if head else start
        cuts = [(start, _kind(text, start, end, words) or _kind(text, begins, end, words))]
        for joint in _JOINT.finditer(text, begins, end):
            kind = _kind(text, joint.end(), end, words)
            if kind and text[cuts[-1][0] : joint.start()].strip():
                cuts.append((joint.end(), kind))
        ends = [cut for cut, _ in cuts[1:]] + [end]
        for (at, kind), until in zip(cuts, ends, strict=True):
            yield Segment(at, until, kind)


def _kind(text: str, start: int, end: int, words: Cues) -> str:
    """Return the kind of the word of order at ``start``, or after a word that joins there."""
    joined = _JOIN_WORD.match(text, start, end)
    found = words.order.match(text, joined.end() if joined else start, end)
    return words.kinds[found[0].casefold().replace("'", "’")] if found else ""


def order_word(kind: str, language: str) -> str:
    """Return the word of order of a kind as it is shown; empty in a language without cues."""
    words = _cues(language)
    return words.shown[kind] if words else ""


def leans(sentence: str, language: str) -> Literal["", "opens", "inside"]:
    """Return how a sentence speaks of what stands before it: it opens with a word for that, or has
    one inside; empty where it does not."""
    words = _cues(language)
    if words is None:
        return ""
    freed = words.free.sub(lambda found: "·" * len(found[0]), sentence.replace("'", "’"))
    if words.opening.match(freed.lstrip('"“”«»„‘’( ')):
        return "opens"
    return "inside" if words.inside.search(freed) else ""


@cache
def _cues(language: str) -> Cues | None:
    data = _data().get(_SPOKEN.get(language, language))
    if data is None:
        return None
    spaced = language != "zh"
    kinds = {
        phrase.casefold(): kind
        for kind, listed in data["order"].items()
        for phrase in _split(listed)
    }
    shown = {kind: _capital(_split(listed)[0]) for kind, listed in data["order"].items()}
    return Cues(
        shown,
        _pattern(list(kinds), spaced, re.IGNORECASE),
        kinds,
        _pattern(_split(data["opening"]), spaced, re.IGNORECASE),
        _pattern(_split(data["inside"]), spaced, 0),
        _pattern(_split(data["free"]), spaced, re.IGNORECASE),
    )


def _pattern(phrases: list[str], spaced: bool, flags: int) -> re.Pattern[str]:
    """Return what matches any of the phrases, the longest first, as whole words where a language
    puts spaces between them."""
    longest = sorted(phrases, key=len, reverse=True)
    either = "|".join(re.escape(phrase).replace("’", "['’]") for phrase in longest)
    edge = r"(?<![\w-])(?:{})(?![\w-])" if spaced else "(?:{})"
    return re.compile(edge.format(either), flags)


def _split(listed: str) -> list[str]:
    return [phrase.strip() for phrase in " ".join(listed.split()).split(",")]


def _capital(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


@cache
def _data() -> Mapping[str, Any]:
    path = Path(__file__).with_suffix(".yaml")
    loaded: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded

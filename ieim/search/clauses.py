"""What a citizen asks with: the clauses of a message, without what is not meant for an office.

One reading for retrieval and the offline engine, so that no text steers one past the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ieim.search.analysis import STEMMED, fold

PLACEHOLDER = re.compile(r"\[[A-Z_]+_\d+\]")
"""What stands in place of personal data."""
_ASKS = re.compile("[?؟？]")
_PARAGRAPH = re.compile(r"\r?\n[^\S\n]*\r?\n\s*")

ENOUGH_TOPIC = 2
"""The least number of topic words of a message that is read by itself."""

_FULL_TOPIC = 8
"""And with this many even where it says "it" or "that"."""


class Subject(Enum):
    """The subject of a message in a talk: ``NONE``; ``SOME``, which may be the talk's or another;
    ``APART``, of which no word is in the talk."""

    NONE = auto()
    SOME = auto()
    APART = auto()


@dataclass(frozen=True, slots=True)
class Forms:
    """``topicless`` and ``facets`` are stems; the patterns are tried on the text as it stands."""

    topicless: frozenset[str]
    facets: frozenset[str]
    clause_breaks: re.Pattern[str]
    follow_up: re.Pattern[str]
    to_a_machine: re.Pattern[str]


@cache
def forms() -> Forms:
    """Return the forms of ``clauses.yaml``; the file is part of the package: a fault is a bug."""
    data: dict[str, Any] = yaml.safe_load(
        Path(__file__).with_name("clauses.yaml").read_text(encoding="utf-8")
    )
    read: dict[str, Any] = {
        name: frozenset(stems(value)) if isinstance(value, str) else any_of(value)
        for name, value in data.items()
    }
    return Forms(**read)


def any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return one pattern for all of ``patterns``, whatever the case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def stems(text: str) -> list[str]:
    """Return the stems of ``text`` in order, without stop words; repeated words repeat.

    Placeholders of personal data (``[EMAIL_1]``) have none: they say nothing about the subject.
    """
    return list(STEMMED.analyze(fold(PLACEHOLDER.sub(" ", text))))


def topic(text: str) -> tuple[str, ...]:
    """Return the distinct stems of ``text`` that carry a topic, in order."""
    topicless = forms().topicless
    return tuple(dict.fromkeys(stem for stem in stems(text) if stem not in topicless))


def subject(words: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``words`` (stems) that are specific to a subject, not common to all services.

    Neither is a date, a sum or a reference a subject.
    """
    facets = forms().facets
    return tuple(word for word in words if word not in facets and not has_digit(word))


def has_digit(word: str) -> bool:
    """Whether ``word`` has a digit."""
    return any(map(str.isdigit, word))


def refers_back(text: str) -> bool:
    """Whether ``text`` refers to the talk before it: "and how much is it?"."""
    return forms().follow_up.search(fold(text)) is not None


def subject_after(message: str, talk: str) -> Subject:
    """Return how much of a subject ``message`` has by itself after a ``talk``.

    A long message that says "it" may refer to itself: "my card is broken, can I replace it?"
    """
    text = "\n".join(clauses(message))
    words, back = topic(text), refers_back(text)
    many = len(subject(words))
    if many >= (_FULL_TOPIC if back else ENOUGH_TOPIC) and set(words).isdisjoint(stems(talk)):
        return Subject.APART
    return Subject.SOME if many >= ENOUGH_TOPIC + back else Subject.NONE


@dataclass(frozen=True, slots=True)
class Clause:
    """``text`` is at ``start`` to ``end`` (half-open code points) of a message; a question
    keeps its mark."""

    text: str
    start: int
    end: int

    @property
    def is_question(self) -> bool:
        """Whether it ends in a question mark: a story says much that nobody need answer."""
        return _ASKS.search(self.text[-1:]) is not None


def clauses(text: str) -> list[str]:
    """Return the clauses of ``text`` that the citizen asks with, none of them blank: see
    :func:`read_clauses`."""
    return [clause.text for clause in read_clauses(text)]


def read_clauses(text: str) -> list[Clause]:
    """Return the clauses of ``text`` that the citizen asks with, in order, none of them blank.

    Clauses end where one request may end and another begin. Words to a machine are no part of a
    question, and neither is what follows them: nothing is obeyed here, so they would only bring in
    topics that are not the citizen's. A message that begins with such words is read from its other
    paragraphs, or else from what is left of it.
    """
    to_a_machine = forms().to_a_machine
    paragraphs = [
        [(part, to_a_machine.search(part.text) is None) for part in _split(text, *place)]
        for place in _paragraphs(text)
    ]
    parts = [part for paragraph in paragraphs for part in paragraph]
    if not parts or all(retained for _, retained in parts):
        return [part for part, _ in parts]
    if parts[0][1]:
        return [part for part, _ in parts[: [retained for _, retained in parts].index(False)]]
    clean = [p for p in paragraphs if p and all(retained for _, retained in p)]
    return [part for paragraph in clean or paragraphs for part, retained in paragraph if retained]


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _PARAGRAPH.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _split(text: str, start: int, end: int) -> Iterator[Clause]:
    whole, last = text[start:end], 0
    for found in forms().clause_breaks.finditer(whole):
        mark = "?" if _ASKS.search(found[0]) else ""
        yield from clause(whole, last, found.start(), mark, start)
        last = found.end()
    yield from clause(whole, last, len(whole), "", start)


def clause(text: str, start: int, end: int, mark: str, offset: int) -> Iterator[Clause]:
    piece = text[start:end]
    if part := piece.strip():
        place = offset + start + piece.index(part)
        yield Clause(part + mark, place, place + len(part))

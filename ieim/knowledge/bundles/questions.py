"""Rules of example questions: whose words they may have, and where a text may stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ieim.knowledge.bundles.rows import BundleProblem, Row
from ieim.pipeline.personal.redaction import MEANINGS, prepare

QUESTION_LIMIT = 200
"""The longest example question, in code points."""

QUESTIONS_LIMIT = 50
"""The most example questions of one service or situation: more say nothing new to the ranking."""

Place: TypeAlias = tuple[str, str, str]
"""Agency and service, or the situation: what is not set is ""."""


def folded(text: str) -> str:
    """Return ``text`` as texts are compared: without case, white space alike."""
    return " ".join(text.casefold().split())


def personal_data(text: str) -> Iterator[str]:
    """Yield a complaint for everything in ``text`` that would be hidden from a model."""
    if len(text) > QUESTION_LIMIT:
        return  # refused for its length
    for segment in prepare(text).segments:
        value = text[segment.start : segment.end]
        yield f"has {MEANINGS[segment.kind]} ({value!r}): write it without anybody's data"


def misplaced(checked: Sequence[tuple[Row, Mapping[str, Any]]]) -> Iterator[BundleProblem]:
    """Yield the texts that an earlier row has at another service, or at another situation, and the
    first question of each that is one too many."""
    first: dict[tuple[bool, str], Place] = {}
    counts: Counter[Place] = Counter()
    for row, values in checked:
        place = place_of(values)
        if not any(place) or not values["text"].strip():
            continue
        other = first.setdefault((bool(place[2]), folded(values["text"])), place)
        if other != place:
            yield BundleProblem(row.file, row.line_of("text"), stands_elsewhere(other), "text")
        counts[place] += 1
        if counts[place] == QUESTIONS_LIMIT + 1:
            yield BundleProblem(row.file, row.line, too_many(place))


def place_of(values: Mapping[str, Any]) -> Place:
    """Return where a question stands."""
    return values["agency"], values["service"], values["situation"]


def stands_elsewhere(place: Place) -> str:
    return (
        f"is a question of {_named(place)} already: one text cannot lead to two "
        f"{'situations' if place[2] else 'services'}, so keep it where it fits best"
    )


def too_many(place: Place) -> str:
    return (
        f"{_named(place)} has more than {QUESTIONS_LIMIT} questions, which is the "
        "limit: leave out those that say the same"
    )


def _named(place: Place) -> str:
    agency, service, situation = (part[:200] for part in place)
    return f"the situation {situation}" if situation else f"{agency} {service}"

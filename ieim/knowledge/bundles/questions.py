"""Rules of example questions: whose words they may have, and where a text may stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ieim.knowledge.bundles.rows import BundleProblem, Row
from ieim.pipeline.personal.redaction import MEANINGS, prepare

QUESTION_LIMIT = 200
"""The longest example question, in code points."""

QUESTIONS_LIMIT = 50
"""The most example questions of one service: more say nothing new to the ranking."""


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
    """Yield the texts that an earlier row has at another service, and the first question of a
    service that is one too many."""
    first: dict[str, Mapping[str, Any]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for row, values in checked:
        agency, service = values["agency"], values["service"]
        if not (agency and service and values["text"].strip()):
            continue
        other = first.setdefault(folded(values["text"]), values)
        if (other["agency"], other["service"]) != (agency, service):
            complaint = stands_elsewhere(other["agency"], other["service"])
            yield BundleProblem(row.file, row.line_of("text"), complaint, "text")
        counts[agency, service] += 1
        if counts[agency, service] == QUESTIONS_LIMIT + 1:
            yield BundleProblem(row.file, row.line, too_many(agency, service))


def stands_elsewhere(agency: str, service: str) -> str:
    return (
        f"is a question of {agency[:200]} {service[:200]} already: one text cannot lead to two "
        "services, so keep it where it fits best"
    )


def too_many(agency: str, service: str) -> str:
    return (
        f"{agency[:200]} {service[:200]} has more than {QUESTIONS_LIMIT} questions, which is the "
        "limit: leave out those that say the same"
    )

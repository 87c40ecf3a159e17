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

Owner: TypeAlias = tuple[str, str, str]
"""Agency and service of a question, or its situation: what is not set is ""."""


def folded(text: str) -> str:
    """Return ``text`` as texts are compared: without case, white space alike."""
    return " ".join(text.casefold().split())


def without_personal_data(text: str) -> str:
    """Return ``text``.

    Raises:
        ValueError: For what in it would be hidden from a model.
    """
    hidden = [f"{MEANINGS[s.kind]} ({text[s.start : s.end]!r})" for s in prepare(text).segments]
    if hidden:
        raise ValueError(f"has {' and '.join(hidden)}: write it without anybody's data")
    return text


class Questions:
    """Example questions in their order: each text has one owner, and no owner has too many."""

    def __init__(self) -> None:
        self._owners: dict[tuple[bool, str], Owner] = {}
        self._counts: Counter[Owner] = Counter()

    def add(self, values: Mapping[str, Any]) -> tuple[str, str]:
        """Count a question, and return what is wrong with its text (a predicate) and with its owner
        (a sentence); "" for nothing."""
        owner = values["agency"], values["service"], values["situation"]
        first = self._owners.setdefault((bool(owner[2]), folded(values["text"])), owner)
        self._counts[owner] += 1
        conflict = too_many = ""
        if first != owner:
            conflict = (
                f"is a question of {_named(first)} already: one text cannot lead to two "
                f"{'situations' if first[2] else 'services'}, so keep it where it fits best"
            )
        if self._counts[owner] > QUESTIONS_LIMIT:
            too_many = (
                f"{_named(owner)} has more than {QUESTIONS_LIMIT} questions, which is the "
                "limit: leave out those that say the same"
            )
        return conflict, too_many


def misplaced(checked: Sequence[tuple[Row, Mapping[str, Any]]]) -> Iterator[BundleProblem]:
    """Yield the texts that an earlier row has at another service, or at another situation, and the
    first question of each that is one too many."""
    questions = Questions()
    noted = set[str]()
    for row, values in checked:
        if not values["text"].strip() or not (values["service"] or values["situation"]):
            continue
        conflict, too_many = questions.add(values)
        if conflict:
            yield BundleProblem(row.file, row.line_of("text"), conflict, "text")
        if too_many and too_many not in noted:
            noted.add(too_many)
            yield BundleProblem(row.file, row.line, too_many)


def _named(owner: Owner) -> str:
    agency, service, situation = (part[:200] for part in owner)
    return f"the situation {situation}" if situation else f"{agency} {service}"

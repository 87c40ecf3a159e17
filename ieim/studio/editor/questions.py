"""The example questions of a service or a situation as lines of its form.

A line is a question in the knowledge's language, or "de: " and one in another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from django.db import transaction
from django.utils.translation import gettext

from conversations.turns.languages import written_in
from ieim.knowledge.bundles.rows import IDENTITY
from ieim.people.models import User
from ieim.pipeline.message.language import detectable, detected_code
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import Problem, column_values
from ieim.studio.models import Change, ExampleQuestion, Service, Situation

QuestionOwner: TypeAlias = Service | Situation
"""An entry that has example questions."""

_LANGUAGE = re.compile(r"([a-z]{2,3}):\s", re.ASCII)
_SHOWN = 60
"""Characters of a line that a problem repeats."""


def lines_of(owner: QuestionOwner) -> list[str]:
    """Return the questions of a stored entry, a line each."""
    return list(_stored(owner))


@transaction.atomic
def save_lines(owner: QuestionOwner, before: Sequence[str], after: Sequence[str], by: User) -> None:
    """Make the questions of ``owner``, which were ``before`` on the page, those of ``after``.

    What somebody else has added or removed meanwhile stays so. Raises :class:`editing.Invalid`
    with what is wrong with new lines, and :class:`editing.OutOfScope`; then nothing has changed.
    """
    stored = _stored(owner)
    for line in before:
        if line not in after and line in stored:
            values = column_values(stored[line])
            editing.remove(
                table="questions",
                identity={name: values[name] for name in IDENTITY["questions"]},
                by=by,
                expected_version=stored[line].version,
                source=Change.Source.ADMIN,
            )
    new = [line for line in dict.fromkeys(after) if line not in before and line not in stored]
    edits = [editing.Edit(_values(owner, line), None) for line in new]
    try:
        editing.save_all(table="questions", edits=edits, by=by, source=Change.Source.ADMIN)
    except editing.ManyInvalid as error:
        problems = [
            _problem(new[index], problem.short)
            for index, columns in error.rows.items()
            for column_problems in columns.values()
            for problem in column_problems
        ]
        raise editing.Invalid({"questions": problems}) from error


def text_of(line: str) -> str:
    """Return the question of a line, without the code of its language."""
    prefix = _LANGUAGE.match(line)
    return line[prefix.end() :].strip() if prefix else line


def owner_columns(owner: QuestionOwner) -> dict[str, str]:
    """Return the columns of a question that say where it stands."""
    if isinstance(owner, Situation):
        return {"situation": owner.key}
    return {"agency": owner.agency_id, "service": owner.key}


def _stored(owner: QuestionOwner) -> dict[str, ExampleQuestion]:
    return {_line(row): row for row in ExampleQuestion.objects.filter(**owner_columns(owner))}


def _line(question: ExampleQuestion) -> str:
    is_plain = question.language == written_in() and not _LANGUAGE.match(question.text)
    return question.text if is_plain else f"{question.language}: {question.text}"


def _values(owner: QuestionOwner, line: str) -> dict[str, Any]:
    prefix = _LANGUAGE.match(line)
    language = prefix[1] if prefix else written_in()
    if detected_code(language) not in detectable():
        message = gettext("there is no language “{code}”: write a code of ISO 639, such as fr")
        raise editing.Invalid({"questions": [_problem(line, message.format(code=language))]})
    return {**owner_columns(owner), "language": language, "text": text_of(line)}


def _problem(line: str, text: str) -> Problem:
    return Problem.of(f"“{line[:_SHOWN]}”: {text}")

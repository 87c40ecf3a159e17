"""What makes a row good: its columns, its label, what it translates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ieim.knowledge.bundles.columns import COLUMNS, EFFECTS, TRANSLATED, Complaint, Values
from ieim.knowledge.bundles.rows import BundleProblem, Row, Table
from ieim.pipeline.knowledge import LABEL_SETS

_MINUTES = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)


def check_row(table: Table, row: Row) -> tuple[Values, list[BundleProblem]]:
    """Return the good values of every column of ``row``, and what is wrong with it.

    A value that is not there, or is wrong, comes back as the column's blank.
    """
    columns = COLUMNS[table]
    problems = [
        BundleProblem(
            row.file,
            row.line_of(name),
            f"the column {name[:80]!r} is unknown: {table} have {', '.join(columns)}",
        )
        for name in row.values
        if name not in columns
    ]
    values: Values = {}
    for name, column in columns.items():
        raw = row.values.get(name)
        complaints: Sequence[Complaint] = ()
        if raw is None:
            values[name] = column.blank
        else:
            values[name], found = column.read(raw)
            complaints = list(found)
        if column.required and (raw is None or (isinstance(raw, str) and not raw.strip())):
            complaints = [Complaint("is missing: fill it in")]
        line = row.line_of(name)
        problems.extend(BundleProblem(row.file, line, c.text, name, c.part) for c in complaints)
    if table == "labels":
        problems.extend(_bad_label(row, values))
    if table == "translations":
        problems.extend(_bad_translation(row, values))
    return values, problems


def _bad_label(row: Row, values: Values) -> Iterator[BundleProblem]:
    label_set, effect = values["set"], values["effect"]
    if label_set and label_set not in LABEL_SETS:
        complaint, shown = f"is unknown: use {', '.join(LABEL_SETS)}", repr(label_set[:80])
        yield BundleProblem(row.file, row.line_of("set"), complaint, "set", shown)
    elif effect and (expected := _expected_effect(label_set, effect)):
        complaint, shown = f"is not {expected}", repr(effect[:80])
        yield BundleProblem(row.file, row.line_of("effect"), complaint, "effect", shown)


def _bad_translation(row: Row, values: Values) -> Iterator[BundleProblem]:
    if values["category"] and values["service"]:
        message = "has a category and a service: a translation is of one of them"
        yield BundleProblem(row.file, row.line_of("service"), message)
        return
    what = "category" if values["category"] else "service" if values["service"] else "agency"
    for column in dict.fromkeys(name for names in TRANSLATED.values() for name in names):
        if values[column] and column not in TRANSLATED[what]:
            told = ", ".join(TRANSLATED[what])
            complaint = f"does not belong here: a translated {what} has {told}"
            yield BundleProblem(row.file, row.line_of(column), complaint, column)


def _expected_effect(label_set: str, effect: str) -> str | None:
    """Return what the effect of a label in ``label_set`` must be, None when it is that."""
    if label_set == "risk_flags":
        return None if effect in EFFECTS else "one of " + ", ".join(EFFECTS)
    if label_set == "urgencies":
        return None if _MINUTES.fullmatch(effect) else "a whole number of minutes"
    return "allowed here: only risk_flags and urgencies have one"

"""What makes a row good: its columns, its label, what it translates, and what it refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ieim.knowledge.bundles.columns import COLUMNS, EFFECTS, TRANSLATED, Complaint, Values
from ieim.knowledge.bundles.rows import IDENTITY, BundleProblem, Row, Table
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


def duplicates(table: Table, checked: Sequence[tuple[Row, Values]]) -> Iterator[BundleProblem]:
    """Yield rows that another has the identity of."""
    first: dict[tuple[str, ...], Row] = {}
    columns = IDENTITY[table]
    for row, values in checked:
        identity = tuple(values[column] for column in columns)
        if not all(
            v or not COLUMNS[table][c].required for c, v in zip(columns, identity, strict=True)
        ):
            continue
        before = first.setdefault(identity, row)
        if before is not row:
            names, shown = " and ".join(columns), " ".join(identity)
            where = before.file if before.line is None else f"line {before.line}"
            message = f"has the same {names} as {where} ({shown[:200]!r}): make it different"
            yield BundleProblem(row.file, row.line_of(columns[-1]), message)


def dangling(
    tables: Mapping[Table, Sequence[Row]], good: Mapping[Table, Sequence[Values]]
) -> Iterator[BundleProblem]:
    """Yield references to what is not there; silent about a table that could not be read."""
    agencies = {values["id"] for values in good["agencies"]}
    entries = {(values["agency"], values["key"]) for values in good["dictionary"]}
    services = {(values["agency"], values["key"]) for values in good["services"]}
    for table in ("dictionary", "services", "translations"):
        for row, values in zip(tables.get(table, ()), good[table], strict=True):
            agency = values["agency"]
            if agency and agency not in agencies and "agencies" in tables:
                message = f"agency {agency[:200]!r} is not among the agencies"
                yield BundleProblem(row.file, row.line_of("agency"), message)
                continue
            wanted: list[tuple[str, str, str]] = []
            if "dictionary" in tables:
                wanted += [("categories", "category", key) for key in values.get("categories", ())]
                wanted += [("category", "category", values.get("category", ""))]
            if "services" in tables and table == "translations":
                wanted.append(("service", "service", values["service"]))
            for column, what, key in wanted:
                if key and (agency, key) not in (entries if what == "category" else services):
                    place = "in the dictionary" if what == "category" else "among the services"
                    message = f"{what} {key[:200]!r} is not {place} of {agency[:200]!r}"
                    yield BundleProblem(row.file, row.line_of(column), message)


def flagless(
    tables: Mapping[Table, Sequence[Row]],
    good: Mapping[Table, Sequence[Values]],
    labels: Iterable[Values],
) -> Iterator[BundleProblem]:
    """Yield risk flags that none of ``labels`` is."""
    known = {(values["set"], values["code"]) for values in labels}
    for table in ("help_lines", "risk_examples"):
        for row, values in zip(tables.get(table, ()), good[table], strict=True):
            flag = values["flag"]
            if flag and ("risk_flags", flag) not in known:
                message = f"flag {flag[:200]!r} is not among the labels of risk_flags"
                yield BundleProblem(row.file, row.line_of("flag"), message)

"""What a file describes, whatever its standard, and how that becomes rows of the draft."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ieim.knowledge.bundles.columns import Values, refusal
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table
from ieim.studio.standards.report import Problem, Report, StandardError
from ieim.studio.standards.texts import fitted, slug

Identity: TypeAlias = tuple[str, ...]

_TABLES: tuple[Table, ...] = ("agencies", "dictionary", "services")


@dataclass(slots=True)
class Entry:
    """An agency, a category, a service or a situation of a file, at a JSON Pointer.

    ``identifier`` is the file's, an IRI where it has one, ``agency`` that of the agency that it
    belongs to ("": it names none). ``values`` are columns, ``translations`` columns by language,
    ``categories`` identifiers, ``services`` those of agencies and services.
    """

    identifier: str
    pointer: str
    values: Values
    agency: str = ""
    translations: dict[str, Values] = field(default_factory=dict)
    categories: list[str] = field(default_factory=list)
    services: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Contents:
    """All that a file describes; repeated descriptions are merged."""

    standard: str
    report: Report
    _entries: dict[tuple[Table, str, str], Entry] = field(default_factory=dict)

    def of(self, table: Table) -> list[Entry]:
        """Return the entries of a table, in the file's order."""
        return [entry for (kind, _, _), entry in self._entries.items() if kind == table]

    def add(self, table: Table, entry: Entry) -> None:
        """Add an entry, or to an earlier one what that does not have."""
        key = (table, entry.agency, entry.identifier)
        before = self._entries.setdefault(key, entry)
        if before is entry:
            return
        for column, value in entry.values.items():
            if not before.values.get(column):
                before.values[column] = value
            elif column == "contact":
                lines = [*before.values[column].split("\n"), *value.split("\n")]
                before.values[column] = "\n".join(dict.fromkeys(filter(None, lines)))
            elif value and before.values[column] != value:
                why = "stands in the file before, with another text: the first one is used"
                self.report.left_out(entry.pointer, f"{column} {why}")
        for language, values in entry.translations.items():
            before.translations[language] = values | before.translations.get(language, {})
        before.categories.extend(c for c in entry.categories if c not in before.categories)
        before.services.extend(s for s in entry.services if s not in before.services)


@dataclass(slots=True)
class Mapped:
    """Rows for the draft by table, what is referred to first; ``pointers`` are their places.

    A column that is not there stays as it is.
    """

    standard: str
    rows: dict[Table, dict[Identity, Values]] = field(default_factory=dict)
    pointers: dict[tuple[Table, Identity], str] = field(default_factory=dict)


def to_rows(contents: Contents, *, into: str | None) -> Mapped:
    """Return what a file has as rows.

    With ``into`` (an agency's id) only the rows of that agency are taken; where the file names a
    single other agency, or none, its rows become those of ``into``.

    Raises:
        StandardError: With every reason against it, and for services without an agency.
    """
    report = contents.report
    agencies = _agency_ids(contents, into)
    rows = _Rows(Mapped(contents.standard), report)
    for table in _TABLES:
        for entry in contents.of(table):
            owner = entry.identifier if table == "agencies" else entry.agency
            if owner in agencies:
                rows.add(table, entry, agencies[owner])
            elif owner:
                report.left_out(entry.pointer, "belongs to an agency that was not chosen")
            else:
                report.problem(entry.pointer, "names no agency: choose the one that it is for")
    for entry in contents.of("situations"):
        if into is None:
            rows.add_situation(entry, agencies)
        else:
            why = "a situation is for every agency: choose none to take it over"
            report.left_out(entry.pointer, why)
    report.check()
    mapped = rows.mapped
    mapped.rows = {table: mapped.rows[table] for table in TABLES if table in mapped.rows}
    return mapped


class _Rows:
    """Makes rows of entries, each with those of its translations."""

    def __init__(self, mapped: Mapped, report: Report) -> None:
        self.mapped = mapped
        self._report = report

    def add(self, table: Table, entry: Entry, agency: str) -> None:
        """Add the row of an entry of an agency."""
        key = _id_of(entry.identifier)
        values = self._fitted(table, entry, entry.values)
        if entry.categories:
            values["categories"] = list(dict.fromkeys(map(_id_of, entry.categories)))
        if table == "services" and not values.get("name"):
            self._report.problem(entry.pointer, "has no name: every service needs one")
        if table == "agencies":
            self._put(table, entry, {"id": agency, **values}, agency=agency)
        else:
            column = "category" if table == "dictionary" else "service"
            values = {"agency": agency, "key": key, **values}
            self._put(table, entry, values, **{"agency": agency, column: key})

    def add_situation(self, entry: Entry, agencies: Mapping[str, str]) -> None:
        """Add the row of a situation."""
        services = ((agencies[a], _id_of(key)) for a, key in entry.services if a in agencies)
        references = [f"{agency}/{key}" for agency, key in dict.fromkeys(services)]
        if references:
            why = "the standard has neither an order of its services nor for whom they are"
            self._report.changed(entry.pointer, f"{why}: put that right in the draft")
        values = {"key": _id_of(entry.identifier), **entry.values, "services": references}
        values = self._fitted("situations", entry, values)
        if values.get("name"):
            self._put("situations", entry, values, situation=values["key"])
        else:
            self._report.problem(entry.pointer, "has no name: every situation needs one")

    def _put(self, table: Table, entry: Entry, values: Values, **original: str) -> None:
        """Add a row unless there is one, and a row for each language that it is translated into."""
        blank = dict.fromkeys(IDENTITY["translations"], "")
        rows: list[tuple[Table, Values]] = [(table, values)]
        for language, texts in entry.translations.items():
            if fitting := self._fitted("translations", entry, texts):
                row = {**blank, "language": language, **original, **fitting}
                rows.append(("translations", row))
        for name, row in rows:
            identity = tuple(row[column] for column in IDENTITY[name])
            if self.mapped.rows.setdefault(name, {}).setdefault(identity, row) is row:
                self.mapped.pointers[name, identity] = entry.pointer
            else:
                why = "has the id of another one: that one is used"
                self._report.left_out(entry.pointer, why)

    def _fitted(self, table: Table, entry: Entry, values: Values) -> Values:
        texts = ((n, fitted(table, n, v, entry.pointer, self._report)) for n, v in values.items())
        return {name: text for name, text in texts if text}


def _agency_ids(contents: Contents, into: str | None) -> dict[str, str]:
    """Return the id of every agency that is taken, by its identifier in the file."""
    members = [*contents.of("services"), *contents.of("dictionary")]
    # Agencies that only a service names come after those that are described.
    identifiers = [entry.identifier for entry in contents.of("agencies")]
    identifiers += [entry.agency for entry in members if entry.agency]
    ids = {identifier: _id_of(identifier) for identifier in identifiers}
    if into is None:
        return ids
    chosen = [identifier for identifier, key in ids.items() if key == into] or list(ids)
    if len(chosen) > 1:
        few = ", ".join(list(ids.values())[:5])
        message = f"has {len(chosen):,} agencies and none of them is {into!r} ({few}, ...)"
        raise StandardError([Problem("", message)])
    return {"": into, **dict.fromkeys(chosen, into)}


def _id_of(identifier: str) -> str:
    """Return the identifier itself where it can be an id, otherwise the end of it with a part of
    its digest: one identifier has one id and no two share it, whatever else is imported."""
    if "://" not in identifier and not refusal("services", "key", identifier):
        return identifier
    page, _, fragment = identifier.partition("#")
    last = next(filter(None, map(slug, reversed(page.split("/")))), "")[:100]
    digest = hashlib.sha256(identifier.encode()).hexdigest()[:12]
    return "-".join(filter(None, (last, slug(fragment)[:80], digest)))

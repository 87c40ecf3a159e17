"""Importing rows into the draft, of one table or of several: what would change, and changing it.

Entries that are not among the rows, and columns that a row does not have, stay as they are. So do
fields that a person has changed since the last import, unless they are chosen one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.columns import COLUMNS, Values
from ieim.knowledge.bundles.formats import DIGITS, LIST_COLUMNS, NUMBER_COLUMNS, Reader
from ieim.knowledge.bundles.rows import IDENTITY, BundleProblem, Table, Value
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.drafts.editing import OutOfScope, permits, record_changes
from ieim.studio.drafts.entries import Entries, Problems
from ieim.studio.drafts.history import agency_of, difference, readable, store_changes
from ieim.studio.drafts.selectors import entry_name, link_warnings
from ieim.studio.models import Change, Service

_IMPORTS = (Change.Source.FILE, Change.Source.BUNDLE)
_BATCH = 500


class Moved(Exception):
    """The draft is no longer what the preview was made from."""


class Incomplete(Exception):
    """Other rows need an entry that a person removed, and that was not chosen."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An entry that would be added or changed; ``fields`` is ``{column: [before, after]}``.

    ``values`` is what it would become, ``version`` the one that the draft has, 0 for none, and
    ``index`` that of its row in its table.
    ``edits`` are the changes by which people wrote a field since the last import, by column; of an
    entry that they removed, by the last column of its natural id.
    """

    table: Table
    name: str
    values: Values
    fields: Mapping[str, Sequence[Any]]
    version: int
    index: int
    edits: Mapping[str, Change] = field(default_factory=dict)

    @property
    def is_new(self) -> bool:
        return self.version == 0

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """``(column, before, after)`` as people read them."""
        return readable(self.fields)

    @property
    def chosen_fields(self) -> list[tuple[str, str, str, Change | None, str]]:
        """``shown``, each with the edit that it would undo, and the name of the choice to do so."""
        return [
            (column, before, after, self.edits.get(column), self.choice(column))
            for column, before, after in self.shown
        ]

    def choice(self, column: str) -> str:
        """Return how a form names a field that is chosen although a person changed it."""
        return f"{self.table} {column} {self.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do, and how many entries of each table it would leave as they are.

    ``problems`` are those of each row, by its index in its table; ``out_of_scope`` are the table,
    the index and the agency of the rows that are not the person's to change.
    """

    entries: list[Planned]
    unchanged: dict[Table, int]
    problems: dict[Table, Mapping[int, Problems]]
    out_of_scope: list[tuple[Table, int, str]]

    @property
    def fingerprint(self) -> str:
        """A digest of what would be done and of what it would be done to."""
        return digest([[e.table, e.name, e.version, e.fields] for e in self.entries])

    @property
    def counts(self) -> dict[Table, dict[str, int]]:
        """How many entries of each table would be added, changed and left."""
        counts = {
            table: {"added": 0, "changed": 0, "unchanged": count}
            for table, count in self.unchanged.items()
        }
        for entry in self.entries:
            counts[entry.table]["added" if entry.is_new else "changed"] += 1
        return counts


def plan_import(tables: Mapping[Table, Sequence[Values]], *, by: User | None) -> Plan:
    """Return what importing rows would do to the draft as it is now.

    Rows may refer to those of other tables. ``by`` is None for the command line.
    """
    return _plan(tables, by)[0]


@transaction.atomic
def write_import(
    tables: Mapping[Table, Sequence[Values]],
    *,
    by: User | None,
    expected_fingerprint: str | None,
    standard: str = "",
    chosen: Collection[str] | None = None,
) -> Plan:
    """Import rows, all or nothing, and return what was done.

    ``chosen`` are the fields (:meth:`Planned.choice`) to take although a person changed them since
    the last import; None takes all.

    ``expected_fingerprint`` is that of the plan that ``by`` agreed to; None agrees to any. A plan
    with problems is not written. ``standard`` is that of the file, "" for a table.

    Raises:
        Moved: The plan is another one by now.
        OutOfScope: ``by`` does not work for one of the agencies.
        Incomplete: Rows need an entry that a person removed and that is not chosen.
    """
    lock_head(SYSTEM_CHAIN)
    plan, checked = _plan(tables, by)
    if expected_fingerprint is not None and plan.fingerprint != expected_fingerprint:
        raise Moved
    if any(plan.problems.values()):
        return plan
    if plan.out_of_scope:
        raise OutOfScope(gettext("You do not work for that agency."))
    if chosen is not None and any(entry.edits for entry in plan.entries):
        plan, checked = _plan(_without_edited(tables, plan, chosen), by)
        if any(plan.problems.values()):
            message = gettext("Other rows need an entry that somebody removed: choose it as well.")
            raise Incomplete(message)
    changes = {
        entries.table: entries.apply(merged, by=by, source=Change.Source.FILE)
        for entries, merged in checked
    }
    if not standard:
        for table, table_changes in changes.items():
            record_changes(table, table_changes, by, Change.Source.FILE)
        return plan
    every = [change for table_changes in changes.values() for change in table_changes]
    store_changes(every)
    if every:
        record_system(
            kind="knowledge.merged",
            payload={
                "standard": standard,
                "tables": {table: dict(counts) for table, counts in plan.counts.items()},
                # The texts are in the history: the digest shows that they are still those.
                "sha256": digest([[c.table, c.entry, c.kind, c.fields] for c in every]),
            },
            actor="system" if by is None else by.actor,
        )
    return plan


def _plan(
    tables: Mapping[Table, Sequence[Values]], by: User | None
) -> tuple[Plan, list[tuple[Entries, list[Values]]]]:
    """Return the plan, and the entries of each table with what they are to become."""
    scope = None if by is None else agencies_of(by)
    plan = Plan([], {}, {}, [])
    checked = []
    for table, contents in tables.items():
        entries = Entries(table, contents)
        plan.unchanged[table] = 0
        plan.problems[table], merged = entries.check(new=(), pending=tables)
        checked.append((entries, merged))
        for index, (identity, values) in enumerate(zip(entries.identities, merged, strict=True)):
            before = entries.stored.get(identity)
            fields = difference(entries.values_of(before) if before else None, values)
            if before is None:
                # Of a new entry, what it says.
                fields = {n: pair for n, pair in fields.items() if n != "position" and pair[1]}
            elif not fields:
                plan.unchanged[table] += 1
                continue
            owner = agency_of(table, values)
            if not permits(scope, table, owner, new=before is None):
                plan.out_of_scope.append((table, index, owner))
            version = before.version if before else 0
            name = entry_name(table, values)
            plan.entries.append(Planned(table, name, values, fields, version, index))
    edits = {table: edits_since_import(table, plan.entries) for table in tables}
    plan.entries[:] = [replace(e, edits=edits[e.table].get(e.name, {})) for e in plan.entries]
    # A page lists the first ones only.
    plan.entries.sort(key=lambda entry: not entry.edits)
    return plan, checked


def edits_since_import(table: Table, entries: Iterable[Planned]) -> dict[str, dict[str, Change]]:
    """Return the newest edit of each planned field that people wrote since an import last changed
    the entry, by entry and column (see :attr:`Planned.edits`)."""
    fields = {entry.name: entry.fields.keys() for entry in entries if entry.table == table}
    names, edits, imported = list(fields), dict[str, dict[str, Change]](), set[str]()
    for start in range(0, len(names), _BATCH):
        changes = Change.objects.filter(table=table, entry__in=names[start : start + _BATCH])
        for change in changes.select_related("by").order_by("-id"):
            if change.source in _IMPORTS:
                imported.add(change.entry)
            if change.entry in imported:
                continue
            is_removal = change.kind == Change.Kind.REMOVED
            columns = [IDENTITY[table][-1]] if is_removal else _written(change)
            for column in fields[change.entry] & set(columns):
                edits.setdefault(change.entry, {}).setdefault(column, change)
            if is_removal:
                # What was before it does not matter any more.
                imported.add(change.entry)
    return edits


def _written(change: Change) -> list[str]:
    """Return the columns that a change wrote: a new entry's blank ones nobody has written."""
    is_new = change.kind == Change.Kind.ADDED
    return [name for name, (_, after) in change.fields.items() if after or not is_new]


def _without_edited(
    tables: Mapping[Table, Sequence[Values]], plan: Plan, chosen: Collection[str]
) -> dict[Table, list[Values]]:
    """Return the rows without the edited fields that are not chosen."""
    left = {
        (entry.table, entry.index): {c for c in entry.edits if entry.choice(c) not in chosen}
        for entry in plan.entries
    }
    result: dict[Table, list[Values]] = {table: [] for table in tables}
    for table, rows in tables.items():
        for index, row in enumerate(rows):
            columns = left.get((table, index), set())
            # Without a part of its natural id nothing is left of a row.
            if columns.isdisjoint(IDENTITY[table]):
                result[table].append({c: value for c, value in row.items() if c not in columns})
    return result


def table_rows(table: Table, source: Reader) -> dict[Table, list[Values]]:
    """Return the rows of a file of one table, without columns that are unknown. A number in a
    column of text is its text."""
    columns = COLUMNS[table]
    return {
        table: [
            {n: _as_text(n, v) for n, v in row.values.items() if n in columns}
            for row in source.rows
        ]
    }


def _as_text(column: str, value: Value) -> Value:
    is_text = column not in LIST_COLUMNS | NUMBER_COLUMNS | DIGITS
    return f"{value:f}" if is_text and isinstance(value, Decimal) else value


def table_problems(table: Table, source: Reader, plan: Plan, file: str) -> list[BundleProblem]:
    """Return everything that is wrong with a ``file`` of one table, by line."""
    problems = list(source.problems)
    for index, columns in plan.problems[table].items():
        row = source.rows[index]
        problems.extend(
            BundleProblem(row.file, row.line_of(column), problem.text)
            for column, column_problems in columns.items()
            for problem in column_problems
        )
    new = {entry.name for entry in plan.entries if entry.is_new}
    for _, index, owner in plan.out_of_scope:
        reason = f"you do not work for {owner!r}" if owner else "these entries are for every agency"
        if table == "agencies" and owner in new:
            reason = f"you may not add the agency {owner!r}"
        row = source.rows[index]
        line = row.line_of("id" if table == "agencies" else "agency")
        message = f"{reason}: leave the row out, or ask somebody who may"
        problems.append(BundleProblem(row.file, line, message))
    labelled = (
        replace(problem, file=f"{file}, {problem.file}" if problem.file else file)
        for problem in problems
    )
    return sorted(labelled, key=lambda problem: (problem.line is not None, problem.line or 0))


def service_warnings(plan: Plan) -> list[str]:
    """Return what to look at again among the links of the services that a plan would write."""
    services = [entry for entry in plan.entries if entry.table == "services"]
    links = [(entry.name, entry.values["url"]) for entry in services]
    planned = {entry.name for entry in services}
    rows = Service.objects.exclude(url="").values_list("agency_id", "key", "url")
    stored = ((f"{agency} {key}", url) for agency, key, url in rows)
    others = ((name, url) for name, url in stored if name not in planned)
    return list(link_warnings(links, others if links else ()))


def ignored_columns(table: Table, source: Reader) -> list[str]:
    """Return what to say of the columns of a file that its table does not have."""
    names = {name: None for row in source.rows for name in row.values if name not in COLUMNS[table]}
    message = gettext("The column {name} is unknown and was ignored.")
    return [message.format(name=name[:80]) for name in names]

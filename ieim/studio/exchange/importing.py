"""Importing rows into the draft, of one table or of several: what would change, and changing it.

Entries that are not among the rows, and columns that a row does not have, stay as they are. So do
fields that a person has changed since the last import, and entries that a person has removed,
unless they are chosen one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.columns import COLUMNS, Values
from ieim.knowledge.bundles.formats import Reader
from ieim.knowledge.bundles.rows import BundleProblem, Table
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.drafts.editing import OutOfScope, permits, record_changes
from ieim.studio.drafts.entries import Entries, Problems
from ieim.studio.drafts.history import agency_of, difference, readable
from ieim.studio.drafts.selectors import entry_name, link_warnings
from ieim.studio.drafts.sets import store_changes
from ieim.studio.models import Change, Service

_IMPORTS = (Change.Source.FILE, Change.Source.BUNDLE)
ALL = "all"
"""How a form takes all that people have changed or removed, instead of single choices."""
_BATCH = 500


class Moved(Exception):
    """The draft is no longer what the preview was made from, or its message says what else was not
    in the preview."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An entry that would be added or changed; ``fields`` is ``{column: [before, after]}``.

    ``values`` is what it would become, ``version`` the one that the draft has, 0 for none, and
    ``index`` that of its row in its table.
    ``edits`` are the newest changes by which people wrote its fields since an import last changed
    the entry, by column. ``removal`` is the newest change of a new entry that a person removed.
    """

    table: Table
    name: str
    values: Values
    fields: Mapping[str, Sequence[Any]]
    version: int
    index: int
    edits: Mapping[str, Change] = field(default_factory=dict)
    removal: Change | None = None

    @property
    def is_persons(self) -> bool:
        """Whether a person changed or removed it, so that something has to be chosen."""
        return bool(self.edits or self.removal)

    def needs_choice(self, by: User) -> bool:
        """Whether nothing of it is written unless ``by`` takes what somebody else has written."""
        if self.removal is not None:
            return self.removal.by_id != by.pk
        return all(c in self.edits and self.edits[c].by_id != by.pk for c in self.fields)

    @property
    def is_new(self) -> bool:
        return self.version == 0

    @property
    def shown(self) -> list[tuple[str, str, str, Change | None, str]]:
        """``(column, before, after)`` as people read them, the edit that it would undo, and how a
        form names the choice to do so."""
        return [
            (name, before, after, self.edits.get(name), self.choice(name))
            for name, before, after in readable(self.fields)
        ]

    def choice(self, column: str = "*") -> str:
        """Return how a form names a field; without a column, the entry itself."""
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

    ``chosen`` are the fields and entries (:meth:`Planned.choice`) to take although a person changed
    or removed them since the last import; None takes all.

    ``expected_fingerprint`` is that of the plan that ``by`` agreed to; None agrees to any. A plan
    with problems is not written. ``standard`` is that of the file, "" for a table.

    Raises:
        Moved: The plan is another one by now, or needs an entry that is not chosen.
        OutOfScope: ``by`` does not work for one of the agencies.
    """
    lock_head(SYSTEM_CHAIN)
    plan, checked = _plan(tables, by)
    if expected_fingerprint is not None and plan.fingerprint != expected_fingerprint:
        raise Moved
    if any(plan.problems.values()):
        return plan
    if plan.out_of_scope:
        raise OutOfScope(gettext("You do not work for that agency."))
    if chosen is not None and any(entry.is_persons for entry in plan.entries):
        plan, checked = _plan(_of_the_file(tables, plan, chosen), by)
        if any(plan.problems.values()):
            raise Moved(gettext("Other rows need an entry that you leave out: take it too."))
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
    edits = {table: _edits(table, plan.entries) for table in tables}
    removals = {table: _removals(table, plan.entries) for table in tables}
    plan.entries[:] = [
        replace(e, edits=edits[e.table].get(e.name, {}), removal=removals[e.table].get(e.name))
        for e in plan.entries
    ]
    # A page lists the first ones only.
    plan.entries.sort(key=lambda entry: not entry.is_persons)
    return plan, checked


def _edits(table: Table, entries: Iterable[Planned]) -> dict[str, dict[str, Change]]:
    """Return :attr:`Planned.edits` by entry."""
    fields = {e.name: e.fields for e in entries if e.table == table and not e.is_new}
    names, edits, imported = list(fields), dict[str, dict[str, Change]](), set[str]()
    for start in range(0, len(names), _BATCH):
        changes = Change.objects.filter(table=table, entry__in=names[start : start + _BATCH])
        for change in changes.select_related("by").order_by("-id"):
            if change.source in _IMPORTS:
                imported.add(change.entry)
            for column, (_, after) in change.fields.items():
                # The blank fields of a new entry nobody has written.
                is_written = after or change.kind != Change.Kind.ADDED
                if change.entry not in imported and is_written and column in fields[change.entry]:
                    edits.setdefault(change.entry, {}).setdefault(column, change)
    return edits


def _removals(table: Table, entries: Iterable[Planned]) -> dict[str, Change]:
    """Return :attr:`Planned.removal` by entry."""
    names = [entry.name for entry in entries if entry.table == table and entry.is_new]
    newest: dict[str, Change] = {}
    for start in range(0, len(names), _BATCH):
        changes = Change.objects.filter(table=table, entry__in=names[start : start + _BATCH])
        for change in changes.select_related("by").order_by("id"):
            newest[change.entry] = change
    return {
        name: change
        for name, change in newest.items()
        if change.kind == Change.Kind.REMOVED and change.source not in _IMPORTS
    }


def _of_the_file(
    tables: Mapping[Table, Sequence[Values]], plan: Plan, chosen: Collection[str]
) -> dict[Table, list[Values]]:
    """Return the rows without the edited fields and the removed entries that are not chosen."""
    result = {table: [dict(row) for row in rows] for table, rows in tables.items()}
    for entry in plan.entries:
        for column in entry.edits:
            if entry.choice(column) not in chosen:
                del result[entry.table][entry.index][column]
        if entry.removal and entry.choice() not in chosen:
            result[entry.table][entry.index].clear()
    return {table: list(filter(None, rows)) for table, rows in result.items()}


def table_rows(table: Table, source: Reader) -> dict[Table, list[Values]]:
    """Return the rows of a file of one table, without columns that are unknown."""
    columns = COLUMNS[table]
    return {table: [{n: v for n, v in r.values.items() if n in columns} for r in source.rows]}


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

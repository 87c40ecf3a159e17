"""Importing the rows of a file: what would change in the draft, and changing it.

Nothing is ever removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.columns import check_row
from ieim.knowledge.bundles.rows import Row, Table
from ieim.knowledge.bundles.situations import parts
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.drafts.editing import OutOfScope, permits
from ieim.studio.drafts.entries import Entries
from ieim.studio.drafts.history import agency_of, difference, keep
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.models import Agency, Change
from ieim.studio.standards.report import Problem, StandardError
from ieim.studio.standards.rows import Mapped, Values


class Moved(Exception):
    """The draft is no longer what the preview was made from."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An entry that would be added or changed; ``fields`` is ``{column: [before, after]}``.

    ``given`` are the columns of the file, ``seen`` the version that the draft has, 0 for none.
    """

    table: Table
    name: str
    given: Values
    fields: Mapping[str, Sequence[Any]]
    seen: int

    @property
    def is_new(self) -> bool:
        return self.seen == 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do, and how many entries of each table it would leave as they are."""

    entries: list[Planned]
    unchanged: Mapping[Table, int]

    @property
    def fingerprint(self) -> str:
        """A digest of what would be done and of what it would be done to."""
        return digest([[e.table, e.name, e.seen, e.given] for e in self.entries])

    @property
    def counts(self) -> dict[Table, dict[str, int]]:
        """How many entries of each table would be added, changed and left."""
        found = {
            table: {"added": 0, "changed": 0, "unchanged": count}
            for table, count in self.unchanged.items()
        }
        for entry in self.entries:
            found[entry.table]["added" if entry.is_new else "changed"] += 1
        return found


def plan(mapped: Mapped) -> Plan:
    """Return what importing ``mapped`` would do to the draft as it is now.

    Columns that the file does not have stay as they are. Raises :class:`StandardError` for what
    the draft could not have.
    """
    problems = list(_without_agency(mapped))
    planned: list[Planned] = []
    unchanged: dict[Table, int] = {}
    for table, rows in mapped.rows.items():
        unchanged[table] = 0
        entries = Entries(table, list(rows.values()))
        for identity, values in rows.items():
            before = entries.stored.get(identity)
            old = entries.values_of(before) if before else {}
            old.pop("position", None)
            if table == "situations" and old:
                values = {**values, "services": _steps_kept(old["services"], values)}
            pointer = mapped.pointers[table, identity]
            _, wrong = check_row(table, Row(pointer, None, {**old, **values}))
            problems.extend(Problem(pointer, problem.message) for problem in wrong)
            if changed := difference(old, {**old, **values}):
                version = before.version if before else 0
                planned.append(Planned(table, entry_name(table, values), values, changed, version))
            else:
                unchanged[table] += 1
    if problems:
        raise StandardError(problems)
    return Plan(planned, unchanged)


@transaction.atomic
def merge(*, mapped: Mapped, by: User | None, seen: str | None = None) -> Plan:
    """Import ``mapped`` into the draft, all or nothing, and return what was done.

    ``seen`` is the fingerprint of the plan that ``by`` agreed to; None is the command line's, and
    so is ``by`` None. Raises :class:`Moved`, :class:`StandardError` and
    :class:`ieim.studio.drafts.editing.OutOfScope`; then nothing has changed.
    """
    lock_head(SYSTEM_CHAIN)
    done = plan(mapped)
    if seen is not None and done.fingerprint != seen:
        raise Moved
    scope = None if by is None else agencies_of(by)
    for entry in done.entries:
        owner = agency_of(entry.table, entry.given)
        if not permits(scope, entry.table, owner, new=entry.is_new):
            raise OutOfScope("You do not work for that agency.")
    changes = [
        change
        for table in mapped.rows
        for change in _write(table, [e for e in done.entries if e.table == table], mapped, by)
    ]
    keep(changes)
    if changes:
        record_system(
            kind="knowledge.merged",
            payload={
                "standard": mapped.standard,
                "tables": {table: dict(counts) for table, counts in done.counts.items()},
                # The texts are in the history: the digest shows that they are still those.
                "sha256": digest([[c.table, c.entry, c.kind, c.fields] for c in changes]),
            },
            actor="system" if by is None else by.actor,
        )
    return done


def _steps_kept(stored: Sequence[str], given: Values) -> list[str]:
    """Return the services of a situation as a file has them; those that the draft has too keep
    their order and conditions, for which no standard has a place."""
    if "services" not in given:
        return list(stored)
    kept = [line for line in stored if parts(line)[0] in given["services"]]
    there = {parts(line)[0] for line in kept}
    return [*kept, *(each for each in given["services"] if each not in there)]


def _without_agency(mapped: Mapped) -> Iterator[Problem]:
    named = {
        values["agency"]: mapped.pointers[table, identity]
        for table, rows in mapped.rows.items()
        for identity, values in rows.items()
        if "agency" in values
    }
    described = {identity[0] for identity in mapped.rows.get("agencies", {})}
    described.update(Agency.objects.filter(pk__in=named).values_list("pk", flat=True))
    for agency, pointer in named.items():
        if agency not in described:
            message = f"belongs to the agency {agency[:200]!r}, which the file does not describe: "
            yield Problem(pointer, message + "add it to the draft, or choose the one it is for")


def _write(table: Table, planned: list[Planned], mapped: Mapped, by: User | None) -> list[Change]:
    entries = Entries(table, [entry.given for entry in planned])
    wrong, merged = entries.check(new=())
    if wrong:
        raise StandardError(
            Problem(mapped.pointers[table, entries.identities[index]], one.text)
            for index, problems in wrong.items()
            for found in problems.values()
            for one in found
        )
    return entries.apply(merged, by=by, source=Change.Source.FILE)

"""Change sets: which fields of the draft are whose, and the release that a set would make.

A field is in the set of whoever changed it first, until that is proposed; who changes it too sees
whose it is. A set changes its own fields alone: what others have not proposed stays out, also of
the same entry.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from django.db import transaction
from django.utils.translation import gettext

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import Bundle, bundle_of
from ieim.knowledge.bundles.rows import OPTIONAL, TABLES, Row, Table
from ieim.knowledge.models import Release as StoredRelease
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.studio.checks import Remark, Severity
from ieim.studio.drafts import cached
from ieim.studio.drafts.merging import (
    WHOLE,
    Columns,
    Name,
    differing,
    named,
    put_together,
    values_of,
)
from ieim.studio.drafts.translations import stale_in
from ieim.studio.models import Change, ChangedEntry, Proposal

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Part:
    """What a set changes of one entry: the entry's agency, and columns."""

    agency: str
    columns: Columns


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a change set makes of the current release; ``faults`` are those of its own entries."""

    bundle: Bundle
    release: Release
    faults: tuple[Remark, ...]


def store_changes(changes: Sequence[Change]) -> None:
    """Store changes that one person made, and put their fields into the set that they work on.

    Those that are in a set already stay in it. What the command line changes is in none.
    """
    Change.objects.bulk_create(changes, batch_size=_BATCH)
    by = changes[0].by if changes else None
    if by is None:
        return
    new: dict[Name, Part] = {}
    for change in changes:
        is_whole = change.kind != Change.Kind.CHANGED
        columns = {WHOLE} if is_whole else change.fields
        new[change.table, change.entry] = Part(change.agency, frozenset(columns))
    taken = _columns_in_sets(new)
    rest = {name: _without(part, taken.get(name, frozenset())) for name, part in new.items()}
    if rest := {name: part for name, part in rest.items() if part.columns}:
        add(working_set(by) or begin(by), rest)


def _without(part: Part, columns: Columns) -> Part:
    left = frozenset() if WHOLE in columns else part.columns - columns
    return replace(part, columns=left)


def working_set(user: User) -> Proposal | None:
    """Return the set that the changes of ``user`` go into: their newest that is being edited."""
    return Proposal.objects.filter(state=Proposal.State.DRAFT, proposed_by=user).first()


def working_size(user: User) -> int:
    """Return the number of entries in the set that the changes of ``user`` go into."""
    own = working_set(user)
    return own.entries.count() if own else 0


def begin(user: User, *, note: str = "") -> Proposal:
    """Begin a set of ``user``, into which their changes go from now on."""
    return Proposal.objects.create(proposed_by=user, note=note)


@transaction.atomic
def add(proposal: Proposal, parts: Mapping[Name, Part]) -> None:
    """Put columns of entries into a set, out of any other."""
    leave(parts)
    own = (row for row in _rows_of(parts) if row.proposal_id == proposal.pk)
    present = {(row.table, row.entry): row for row in own}
    new: list[ChangedEntry] = []
    changed: list[ChangedEntry] = []
    for (table, entry), part in parts.items():
        row = present.get((table, entry))
        if row is None:
            row = ChangedEntry(proposal=proposal, table=table, entry=entry, agency=part.agency)
        (changed if row.pk else new).append(row)
        row.columns = sorted({*row.columns, *part.columns})
    ChangedEntry.objects.bulk_create(new, batch_size=_BATCH)
    ChangedEntry.objects.bulk_update(changed, ["columns"], batch_size=_BATCH)


def leave(parts: Mapping[Name, Part]) -> None:
    """Take columns of entries out of the sets that they are in."""
    rows = _rows_of(parts)
    for row in rows:
        columns = parts[row.table, row.entry].columns
        row.columns = [] if WHOLE in columns else sorted({*row.columns} - columns)
    ChangedEntry.objects.bulk_update(rows, ["columns"], batch_size=_BATCH)
    ChangedEntry.objects.filter(pk__in=[row.pk for row in rows if not row.columns]).delete()


def _rows_of(names: Collection[Name]) -> list[ChangedEntry]:
    """Return the rows of entries in all sets."""
    rows = ChangedEntry.objects.filter(table__in={table for table, _ in names})
    if len(names) <= _BATCH:
        rows = rows.filter(entry__in={entry for _, entry in names})
    return [row for row in rows if (row.table, row.entry) in names]


def _columns_in_sets(names: Collection[Name]) -> dict[Name, Columns]:
    """Return the columns of entries that are in a set that is being edited."""
    columns: dict[Name, Columns] = {}
    for row in _rows_of(names):
        name = (row.table, row.entry)
        columns[name] = columns.get(name, frozenset()).union(row.columns)
    return columns


def parts_of(proposal: Proposal) -> dict[Name, Part]:
    """Return what a set that is being edited changes."""
    return {
        (row.table, row.entry): Part(row.agency, frozenset(row.columns))
        for row in proposal.entries.all()
    }


def sets_of(table: Table, entry: str) -> list[ChangedEntry]:
    """Return what sets that are being edited change of an entry, with the sets."""
    rows = ChangedEntry.objects.filter(table=table, entry=entry)
    return list(rows.select_related("proposal__proposed_by"))


def all_parts() -> dict[Name, Part]:
    """Return what sets that are being edited change, and what is in none."""
    parts = in_no_set()
    for row in ChangedEntry.objects.all():
        name = (row.table, row.entry)
        before = parts[name].columns if name in parts else frozenset()
        parts[name] = Part(row.agency, before.union(row.columns))
    return parts


def in_no_set() -> dict[Name, Part]:
    """Return what the draft has otherwise than the current release and is in no set, proposed ones
    included: it was loaded on the command line, or is left of a proposal that was turned down."""
    current = current_bundle()
    changed = differing_parts(current, cached.draft().bundle)
    taken = _columns_in_sets(changed)
    for proposal in Proposal.objects.filter(
        state__in=(Proposal.State.OPEN, Proposal.State.SCHEDULED), again=None
    ).select_related("base"):
        for name, columns in _proposed_and_drafted(proposal).items():
            taken[name] = taken.get(name, frozenset()) | columns
    free = {name: _without(part, taken.get(name, frozenset())) for name, part in changed.items()}
    return {name: part for name, part in free.items() if part.columns}


def differing_parts(before: Bundle | None, after: Bundle) -> dict[Name, Part]:
    """Return what ``after`` has otherwise than ``before`` (None: nothing)."""
    old = named(before) if before else {table: {} for table in TABLES}
    new = named(after)
    parts: dict[Name, Part] = {}
    for table in TABLES:
        for entry in old[table] | new[table]:
            rows = old[table].get(entry), new[table].get(entry)
            if columns := differing(*rows):
                column = "id" if table == "agencies" else "agency"
                agency = str(getattr(rows[1] or rows[0], column, ""))
                parts[table, entry] = Part(agency, columns)
    return parts


def proposed_parts(proposal: Proposal) -> dict[Name, Part]:
    """Return what a set that was proposed changes of the release that was current then."""
    base = None if proposal.base is None else Bundle.from_content(proposal.base.content)
    return differing_parts(base, Bundle.from_content(proposal.content))


def _proposed_and_drafted(proposal: Proposal) -> dict[Name, Columns]:
    """Return what a proposal changes and the draft has as it does."""
    proposed, draft = named(Bundle.from_content(proposal.content)), named(cached.draft().bundle)
    same: dict[Name, Columns] = {}
    for (table, entry), part in proposed_parts(proposal).items():
        other = differing(proposed[table].get(entry), draft[table].get(entry))
        same[table, entry] = frozenset() if WHOLE in other else part.columns - other
    return same


def current_bundle() -> Bundle | None:
    """Return the current release as a bundle, None before the first."""
    newest = knowledge.newest()
    return None if newest is None else bundle_of_release(newest.number, newest.sha256)


@lru_cache(maxsize=3)
def bundle_of_release(number: int, sha256: str) -> Bundle:
    """Return a release as a bundle; its digest says that it is the one of this number."""
    content = StoredRelease.objects.values_list("content", flat=True).get(
        number=number, sha256=sha256
    )
    return Bundle.from_content(content)


def assembled(parts: Mapping[Name, Part]) -> Assembled:
    """Return the current release with ``parts`` as the draft has them.

    Raises :class:`ieim.knowledge.bundles.bundle.BundleError` where they refer to what is neither
    in it nor among them.
    """
    draft, current = cached.draft(), current_bundle()
    faults = [fault for fault in draft.faults if (fault.table, fault.entry) in parts]
    columns = {name: part.columns for name, part in parts.items()}
    bundle, missing = put_together(current, draft.bundle, columns)
    faults += [_of_another_set(name, parts[name].agency) for name in missing]
    bundle = stale_in(bundle, current, columns)
    if not faults:
        bundle_of(rows_of(bundle), file="draft")
    return Assembled(bundle, bundle.release(), tuple(faults))


def _of_another_set(name: Name, agency: str) -> Remark:
    sentence = gettext(
        "It is new, in another set: wait until that is published, or take the entry into this one."
    )
    table, entry = name
    return Remark("entry.elsewhere", Severity.ERROR, cast("Table", table), entry, agency, sentence)


def rows_of(bundle: Bundle) -> dict[Table, list[Row]]:
    """Return a bundle as unchecked rows, each with its name in the place of a file's."""
    entries = named(bundle)
    return {
        table: [
            Row(f"{table} {entry}", None, values_of(table, row))
            for entry, row in entries[table].items()
        ]
        for table in TABLES
        if entries[table] or table not in OPTIONAL
    }

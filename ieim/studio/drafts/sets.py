"""Change sets: which entries of the draft are whose, and the release that a set would make.

An entry is in the set of whoever changed it first, until that is proposed; who changes it too sees
whose it is. A set changes its own entries alone: what others have not proposed stays out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db import transaction

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import Bundle, bundle_of
from ieim.knowledge.bundles.rows import OPTIONAL, TABLES, Row, Table
from ieim.knowledge.models import Release as StoredRelease
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.studio.checks import Remark
from ieim.studio.drafts import cached
from ieim.studio.drafts.merging import Name, named, put_together, values_of
from ieim.studio.drafts.translations import stale_in, without_stale
from ieim.studio.models import Change, ChangedEntry, Proposal

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a change set makes of the current release; ``faults`` are those of its own entries."""

    bundle: Bundle
    release: Release
    faults: tuple[Remark, ...]


def store_changes(changes: Sequence[Change]) -> None:
    """Store changes that one person made, and put their entries into the set that they work on.

    Those that are in a set already stay in it. What the command line changes is in none.
    """
    Change.objects.bulk_create(changes, batch_size=_BATCH)
    by = changes[0].by if changes else None
    if by is None:
        return
    new = {(change.table, change.entry): change.agency for change in changes}
    taken = ChangedEntry.objects.filter(table__in={table for table, _ in new})
    for name in taken.values_list("table", "entry"):
        new.pop(name, None)
    if new:
        add(working_set(by) or begin(by), new)


def working_set(user: User) -> Proposal | None:
    """Return the set that the changes of ``user`` go into: their newest that is being edited."""
    return Proposal.objects.filter(state=Proposal.State.DRAFT, proposed_by=user).first()


def begin(user: User, *, note: str = "") -> Proposal:
    """Begin a set of ``user``, into which their changes go from now on."""
    return Proposal.objects.create(proposed_by=user, note=note)


@transaction.atomic
def add(proposal: Proposal, agencies: Mapping[Name, str]) -> None:
    """Put entries into a set, out of any other; ``agencies`` are the entries' agencies."""
    for table in {table for table, _ in agencies}:
        entries = [entry for name, entry in agencies if name == table]
        for start in range(0, len(entries), _BATCH):
            batch = entries[start : start + _BATCH]
            ChangedEntry.objects.filter(table=table, entry__in=batch).delete()
    rows = [
        ChangedEntry(proposal=proposal, table=table, entry=entry, agency=agency)
        for (table, entry), agency in agencies.items()
    ]
    ChangedEntry.objects.bulk_create(rows, batch_size=_BATCH)


def names_of(proposal: Proposal) -> frozenset[Name]:
    """Return the entries of a set that is being edited."""
    return frozenset(proposal.entries.values_list("table", "entry"))


def agencies_of_entries() -> dict[Name, str]:
    """Return the agency of each entry that a set is to change or that :func:`in_no_set` has."""
    rows = ChangedEntry.objects.values_list("table", "entry", "agency")
    return {**in_no_set(), **{(table, entry): agency for table, entry, agency in rows}}


def in_no_set() -> dict[Name, str]:
    """Return the agency of each entry that the draft has otherwise than the current release, and
    that is in no set: it was loaded on the command line, or changed by an earlier version."""
    current = current_bundle()
    before = named(current) if current else {table: {} for table in TABLES}
    after = named(cached.draft().bundle)
    changed: dict[Name, str] = {}
    for table in TABLES:
        for entry in before[table] | after[table]:
            old, new = before[table].get(entry), after[table].get(entry)
            if without_stale(old) != without_stale(new):
                column = "id" if table == "agencies" else "agency"
                changed[table, entry] = str(getattr(new or old, column, ""))
    for name in ChangedEntry.objects.values_list("table", "entry"):
        changed.pop(name, None)
    return changed


def current_bundle() -> Bundle | None:
    """Return the current release as a bundle, None before the first."""
    newest = knowledge.newest()
    return None if newest is None else bundle_of_release(newest.number, newest.sha256)


def leave(names: Collection[Name]) -> None:
    """Take entries out of the sets that they are in."""
    for table, entry in names:
        ChangedEntry.objects.filter(table=table, entry=entry).delete()


@lru_cache(maxsize=3)
def bundle_of_release(number: int, sha256: str) -> Bundle:
    """Return a release as a bundle; its digest says that it is the one of this number."""
    content = StoredRelease.objects.values_list("content", flat=True).get(
        number=number, sha256=sha256
    )
    return Bundle.from_content(content)


def assembled(names: Collection[Name]) -> Assembled:
    """Return the current release with ``names`` as the draft has them.

    Raises :class:`ieim.knowledge.bundles.bundle.BundleError` where they refer to what is neither
    in it nor among them.
    """
    draft = cached.draft()
    faults = tuple(fault for fault in draft.faults if (fault.table, fault.entry) in names)
    current = current_bundle()
    bundle = stale_in(put_together(current, draft.bundle, names), current, draft.bundle)
    if not faults:
        bundle_of(rows_of(bundle), file="draft")
    return Assembled(bundle, bundle.release(), faults)


def rows_of(bundle: Bundle) -> dict[Table, list[Row]]:
    """Return a bundle as unchecked rows, each with its name in the place of a file's."""
    return {
        table: [Row(f"{table} {entry}", None, values_of(table, row)) for entry, row in rows.items()]
        for table, rows in named(bundle).items()
        if rows or table not in OPTIONAL
    }

"""Replacing the draft by a bundle: one transaction with its audit event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.bundle import Bundle, Entry
from ieim.knowledge.bundles.rows import TABLES, Table
from ieim.people.models import User
from ieim.studio.drafts.entries import Entries, Values
from ieim.studio.drafts.history import change
from ieim.studio.drafts.merging import values_of
from ieim.studio.drafts.sets import store_changes
from ieim.studio.models import Change, DraftEntry

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Counts:
    """What happened to the entries of one table; an entry that only moved is unchanged."""

    added: int
    changed: int
    removed: int
    unchanged: int

    @property
    def before(self) -> int:
        return self.changed + self.removed + self.unchanged

    @property
    def removes_much(self) -> bool:
        return 10 * self.removed > self.before


class RemovalError(Exception):
    """An import would remove more than a tenth of some tables; nothing was changed.

    ``counts`` is what it would have done, ``tables`` are those tables.
    """

    def __init__(self, counts: Mapping[Table, Counts]) -> None:
        super().__init__("more than a tenth would be removed")
        self.counts = counts
        self.tables = [table for table, count in counts.items() if count.removes_much]


@transaction.atomic
def import_bundle(
    *,
    bundle: Bundle,
    by: User | None,
    remove: bool = True,
    progress: Callable[[int], object] | None = None,
) -> Mapping[Table, Counts]:
    """Replace the draft by ``bundle``, and return what that did to each table.

    Entries that stay keep their rows. ``by`` is None for the command line. Without ``remove`` it
    raises :class:`RemovalError` where more than a tenth of a table would go. ``progress`` is called
    with how many more entries are done.
    """
    lock_head(SYSTEM_CHAIN)  # one change of draft or releases at a time
    plans = {table: _Plan(table, getattr(bundle, table), by) for table in TABLES}
    result = {table: plan.counts for table, plan in plans.items()}
    if not remove and any(counts.removes_much for counts in result.values()):
        raise RemovalError(result)
    # What refers goes before what is referred to, and comes after it.
    for table in reversed(TABLES):
        plans[table].remove()
    for table in TABLES:
        plans[table].entries.write(progress or (lambda done: None))
    for table in TABLES:
        store_changes(plans[table].changes)
    record_system(
        kind="knowledge.imported",
        payload={
            "tables": {table: asdict(counts) for table, counts in result.items()},
            "own_labels": bundle.own_labels,
        },
        actor="system" if by is None else by.actor,
    )
    return result


class _Plan:
    """What must be done to one table of the draft to make it hold ``rows``, in their order."""

    def __init__(self, table: Table, rows: Sequence[Entry], by: User | None) -> None:
        self._by = by
        contents = [values_of(table, row) for row in rows]
        self.entries = Entries(table, contents, whole_table=True)
        self.changes: list[Change] = []
        surplus = dict(self.entries.stored)
        for position, values in enumerate(contents):
            before = surplus.pop(self.entries.identities[position], None)
            changed = self._note(before, values)
            if changed or (before is not None and before.position != position):
                self.entries.put(position, {**values, "position": position}, changed=changed)
        self.surplus = list(surplus.values())
        for entry in self.surplus:
            self._note(entry, None)
        kinds = Counter(change.kind for change in self.changes)
        added, changed_rows = kinds[Change.Kind.ADDED], kinds[Change.Kind.CHANGED]
        unchanged = len(rows) - added - changed_rows
        self.counts = Counts(added, changed_rows, len(self.surplus), unchanged)

    def _note(self, before: DraftEntry | None, after: Values | None) -> bool:
        """Note a change, and return whether there is one; moving an entry is none."""
        old = None
        if before is not None:
            old = self.entries.values_of(before)
            del old["position"]
        entry_change = change(
            table=self.entries.table,
            before=old,
            after=after,
            by=self._by,
            source=Change.Source.BUNDLE,
        )
        if entry_change is None:
            return False
        if before is None:
            entry_change.fields = {}  # the entry itself holds what a bundle brought
        self.changes.append(entry_change)
        return True

    def remove(self) -> None:
        """Remove what the draft has and the bundle has not."""
        for start in range(0, len(self.surplus), _BATCH):
            keys = [entry.pk for entry in self.surplus[start : start + _BATCH]]
            self.entries.model._default_manager.filter(pk__in=keys).delete()

"""Replacing the draft by a bundle: one transaction with its audit event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from django.db import transaction

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import TABLES, Table
from ieim.people.models import User
from ieim.pipeline import knowledge
from ieim.studio.drafts.entries import Entries, Values
from ieim.studio.drafts.history import change, difference, keep
from ieim.studio.models import Change, DraftEntry

_BundleRow: TypeAlias = (
    knowledge.Agency
    | knowledge.Category
    | knowledge.Service
    | knowledge.Label
    | knowledge.Translation
    | knowledge.HelpLine
    | knowledge.RiskExample
    | knowledge.CaseText
)

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


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did to the draft, by table (``agencies``, ``dictionary``, ...)."""

    tables: Mapping[Table, Counts]

    def as_dict(self) -> dict[str, dict[str, int]]:
        return {table: asdict(counts) for table, counts in self.tables.items()}


class RemovalError(Exception):
    """An import would remove more than a tenth of some tables; nothing was changed.

    ``result`` is what it would have done, ``tables`` are those tables.
    """

    def __init__(self, result: ImportResult) -> None:
        super().__init__("more than a tenth would be removed")
        self.result = result
        self.tables = [table for table, counts in result.tables.items() if counts.removes_much]


@transaction.atomic
def import_bundle(
    *,
    bundle: Bundle,
    by: User | None,
    remove: bool = True,
    progress: Callable[[int], object] | None = None,
) -> ImportResult:
    """Replace the draft by ``bundle``; entries that stay keep their rows.

    ``by`` is None for the command line. Without ``remove`` it raises :class:`RemovalError` where
    more than a tenth of a table would go. ``progress`` is called with how many more entries are
    done.
    """
    lock_head(SYSTEM_CHAIN)  # one change of draft or releases at a time
    plans = {table: _Plan(table, getattr(bundle, table)) for table in TABLES}
    result = ImportResult({table: plans[table].counts for table in TABLES})
    if not remove and any(counts.removes_much for counts in result.tables.values()):
        raise RemovalError(result)
    # What refers goes before what is referred to, and comes after it.
    for table in reversed(TABLES):
        plans[table].remove()
    for table in TABLES:
        plans[table].entries.write(progress or (lambda done: None))
    for table in TABLES:
        keep(plans[table].history(by))
    record_system(
        kind="knowledge.imported",
        payload={"tables": result.as_dict(), "own_labels": bundle.own_labels},
        actor="system" if by is None else by.actor,
    )
    return result


class _Plan:
    """What must be done to one table of the draft to make it hold ``rows``, in their order."""

    def __init__(self, table: Table, rows: Sequence[_BundleRow]) -> None:
        self.table = table
        wanted = [_columns(row) for row in rows]
        self.entries = Entries(table, wanted, whole=True)
        self.changes: list[tuple[Change.Kind, Values, dict[str, list[Any]]]] = []
        surplus = dict(self.entries.stored)
        for position, values in enumerate(wanted):
            before = surplus.pop(self.entries.identities[position], None)
            # What a bundle adds has no fields: the entry itself holds it.
            fields = {} if before is None else difference(self._stored(before), values)
            if before is None or fields:
                kind = Change.Kind.CHANGED if before else Change.Kind.ADDED
                self.changes.append((kind, values, fields))
            if before is None or fields or before.position != position:
                row = {**values, "position": position}
                self.entries.put(position, row, changed=bool(fields))
        self.surplus = list(surplus.values())
        for entry in self.surplus:
            values = self._stored(entry)
            self.changes.append((Change.Kind.REMOVED, values, difference(values, None)))
        kinds = Counter(kind for kind, _, _ in self.changes)
        added, changed = kinds[Change.Kind.ADDED], kinds[Change.Kind.CHANGED]
        unchanged = len(rows) - added - changed
        self.counts = Counts(added, changed, len(self.surplus), unchanged)

    def _stored(self, entry: DraftEntry) -> Values:
        values = self.entries.values_of(entry)
        del values["position"]
        return values

    def history(self, by: User | None) -> Iterator[Change]:
        """Yield the history of what the plan does; moving an entry is none."""
        for kind, values, fields in self.changes:
            yield change(
                table=self.table,
                values=values,
                kind=kind,
                fields=fields,
                by=by,
                source=Change.Source.BUNDLE,
            )

    def remove(self) -> None:
        """Remove what the draft has and the bundle has not."""
        for start in range(0, len(self.surplus), _BATCH):
            keys = [entry.pk for entry in self.surplus[start : start + _BATCH]]
            self.entries.model._default_manager.filter(pk__in=keys).delete()


def _columns(row: _BundleRow) -> Values:
    values = asdict(row)
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

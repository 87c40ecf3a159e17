"""Replacing the draft by a bundle: one transaction with its audit event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from django.db import models, transaction

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table
from ieim.people.models import User
from ieim.pipeline import knowledge
from ieim.studio.drafts import history
from ieim.studio.drafts import selectors as drafts
from ieim.studio.models import Change

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
        """How many there were."""
        return self.changed + self.removed + self.unchanged

    @property
    def removes_much(self) -> bool:
        """Whether more than a tenth of them goes."""
        return 10 * self.removed > self.before


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did to the draft, by table (``agencies``, ``dictionary``, ...)."""

    tables: Mapping[Table, Counts]

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Return the counts as JSON values."""
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
    more than a tenth of a table would go. ``progress`` is told how many more entries are done; it
    is called for each entry of ``bundle`` in all.
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
        plans[table].write(progress or (lambda done: None))
    for table in TABLES:
        history.keep(plans[table].changes(by))
    record_system(
        kind="knowledge.imported",
        payload={"tables": result.as_dict(), "own_labels": bundle.own_labels},
        actor="system" if by is None else by.actor,
    )
    return result


class _Plan:
    """What must be done to one table of the draft to make it hold ``rows``, in their order."""

    def __init__(self, table: Table, rows: Sequence[_BundleRow]) -> None:
        self._model = drafts.DRAFT_MODELS[table]
        self._identity = tuple(_attribute(column) for column in IDENTITY[table])
        self._columns = [_attribute(column) for column in COLUMNS[table]]
        stored = {
            tuple(values[name] for name in self._identity): values
            for values in self._model._default_manager.values(
                "pk", "position", "version", *self._columns
            )
        }
        self._total = len(rows)
        self._rows: list[models.Model] = []
        self._table: Table = table
        self._changes: list[tuple[Change.Kind, Mapping[str, Any], Mapping[str, list[Any]]]] = []
        added = changed = 0
        for position, row in enumerate(rows):
            values = {_attribute(name): _listed(value) for name, value in asdict(row).items()}
            before = stored.pop(tuple(values[name] for name in self._identity), None)
            same = before is not None and all(before[name] == values[name] for name in values)
            added += before is None
            changed += before is not None and not same
            if before is None:
                # The entry itself holds what a bundle brought.
                self._changes.append((Change.Kind.ADDED, asdict(row), {}))
            elif not same:
                fields = history.difference(_named(before), _named(values))
                self._changes.append((Change.Kind.CHANGED, asdict(row), fields))
            if before is None or not same or before["position"] != position:
                version = 1 if before is None else before["version"] + (not same)
                self._rows.append(self._model(**values, position=position, version=version))
        self._surplus = [values["pk"] for values in stored.values()]
        for values in stored.values():
            gone = _named(values)
            fields = history.difference(gone, None)
            self._changes.append((Change.Kind.REMOVED, gone, fields))
        unchanged = len(rows) - added - changed
        self.counts = Counts(added, changed, len(self._surplus), unchanged)

    def changes(self, by: User | None) -> Iterator[Change]:
        """Yield the history of what the plan does; moving an entry is none."""
        for kind, values, fields in self._changes:
            yield history.change(
                table=self._table,
                values=values,
                kind=kind,
                fields=fields,
                by=by,
                source=Change.Source.BUNDLE,
            )

    def remove(self) -> None:
        """Remove what the draft has and ``rows`` have not."""
        for batch in _batches(self._surplus):
            self._model._default_manager.filter(pk__in=batch).delete()

    def write(self, progress: Callable[[int], object]) -> None:
        """Add and change rows."""
        progress(self._total - len(self._rows))
        kept = {*self._identity}
        for batch in _batches(self._rows):
            self._model._default_manager.bulk_create(
                batch,
                update_conflicts=True,
                unique_fields=[name.removesuffix("_id") for name in self._identity],
                update_fields=["position", "version", *(n for n in self._columns if n not in kept)],
            )
            progress(len(batch))


def _attribute(column: str) -> str:
    """Return the model's attribute for ``column``: a reference is stored as the natural id."""
    return "agency_id" if column == "agency" else column


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns among a row's attributes, under their own names."""
    named = {name.removesuffix("_id"): value for name, value in values.items()}
    return {name: v for name, v in named.items() if name not in ("pk", "position", "version")}


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _batches(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]

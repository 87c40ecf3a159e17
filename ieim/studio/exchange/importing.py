"""The tables of the draft as django-import-export's resources.

The library walks the rows and keeps the result; what a row must be, and writing, is editing's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from import_export.fields import Field
from import_export.resources import ModelResource, modelresource_factory
from import_export.results import Result, RowResult
from import_export.widgets import Widget

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import BundleProblem, Row, Table
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import Entries, attribute
from ieim.studio.drafts.history import agency_of, difference, readable
from ieim.studio.drafts.links import link_warnings
from ieim.studio.drafts.selectors import DRAFT_MODELS, entry_name
from ieim.studio.exchange.formats import Sheet
from ieim.studio.models import Change, DraftEntry, Service

_EVERY_AGENCY = "these entries are for every agency"


@dataclass(frozen=True, slots=True)
class Planned:
    """What a row would do: ``fields`` is ``{column: [before, after]}``."""

    entry: str
    new: bool
    fields: Mapping[str, Sequence[Any]]

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """``(column, before, after)`` as people read them; of a new entry, what it says."""
        if not self.new:
            return readable(self.fields)
        told = {name: pair for name, pair in self.fields.items() if name != "position" and pair[1]}
        return readable(told)


class Preview(Result):
    """What an import would do, or did. ``seen`` is the draft that it was compared with."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[BundleProblem] = []
        self.warnings: list[str] = []
        self.planned: list[Planned] = []
        self.seen = ""

    def has_errors(self) -> bool:
        """Whether anything at all is wrong: then nothing is imported."""
        return bool(self.problems) or super().has_errors()

    @property
    def places(self) -> list[str]:
        """What is wrong, where, a sentence each."""
        return [str(problem) for problem in self.problems]


class Plain(Widget):
    """Hands a value on as the draft has it: how it is written is the file's business."""

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> Any:
        """Return ``value``."""
        return value


class DraftResource(ModelResource):
    """Rows of one table. ``seen`` is what a preview compared with; "" makes a preview."""

    table: ClassVar[Table]

    def __init__(self, by: User | None = None, seen: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._by = by
        self._seen = seen
        self._problems: list[BundleProblem] = []
        self._edits: list[editing.Edit] = []
        self._planned: dict[int, Planned] = {}

    def get_import_id_fields(self) -> list[str]:
        """Return none: the rows are found by their natural ids, all at once."""
        return []

    @classmethod
    def get_result_class(cls) -> type[Preview]:
        """Return :class:`Preview`."""
        return Preview

    def before_import(self, dataset: Sheet, **kwargs: Any) -> None:
        """Judge every row before the first is walked."""
        self._file = kwargs.get("file_name") or "the file"
        rows = dataset.upload.rows
        self._problems = list(dataset.upload.problems)
        self._unknown_columns(rows)
        given = [{n: v for n, v in row.values.items() if n in COLUMNS[self.table]} for row in rows]
        entries = self._entries = Entries(self.table, given)
        stored = [entries.stored.get(identity) for identity in entries.identities]
        self._edits = [
            editing.Edit(values, before.version if before else None)
            for values, before in zip(given, stored, strict=True)
        ]
        wrong, merged = entries.check(new=())
        for index, found in wrong.items():
            for column, problems in found.items():
                line = rows[index].line_of(column)
                file = rows[index].file
                self._problems.extend(BundleProblem(file, line, one.text) for one in problems)
        self._merged = merged
        self._out_of_scope(rows, stored)
        for index, (before, values) in enumerate(zip(stored, merged, strict=True)):
            fields = difference(entries.values_of(before) if before else None, values)
            if fields:
                name = entry_name(self.table, values)
                self._planned[index] = Planned(name, before is None, fields)
        versions = [[list(i), e.seen] for i, e in zip(entries.identities, self._edits, strict=True)]
        self._fingerprint = digest(versions)

    def get_instance(self, instance_loader: Any, row: Mapping[str, Any]) -> DraftEntry | None:
        """Return the entry that a row is about, None for a new one."""
        return self._entries.stored.get(self._entries.identities[self._index])

    def before_import_row(self, row: Mapping[str, Any], **kwargs: Any) -> None:
        """Note which row is walked; numbers count from 1."""
        self._index = kwargs["row_number"] - 1

    def import_instance(self, instance: DraftEntry, row: Mapping[str, Any], **kwargs: Any) -> None:
        """Leave the entry alone: editing writes it."""

    def skip_row(self, instance: Any, original: Any, row: Any, errors: Any = None) -> bool:
        """Whether a row changes nothing."""
        return self._index not in self._planned

    def save_instance(self, instance: Any, is_create: bool, row: Any, **kwargs: Any) -> None:
        """Do nothing yet: all rows are written at once."""

    def after_import_row(self, row: Any, row_result: RowResult, **kwargs: Any) -> None:
        """Note the row's number, by which its plan is found."""
        row_result.row_values = {"index": self._index}

    def bulk_create(
        self,
        using_transactions: bool,
        dry_run: bool,
        raise_errors: bool,
        batch_size: int | None = None,
        result: Preview | None = None,
    ) -> None:
        """Write every row that changes something, unless anything is wrong."""
        if dry_run or self._problems or self._by is None:
            return
        if self._seen != self._fingerprint:
            self._refuse("somebody changed these entries after the preview: look at it again")
            return
        edits = [edit for index, edit in enumerate(self._edits) if index in self._planned]
        try:
            editing.save_all(table=self.table, edits=edits, by=self._by, source=Change.Source.FILE)
        except (editing.Stale, editing.OutOfScope, editing.ManyInvalid) as error:
            self._refuse(f"{error} Look at the preview again.")

    def after_import(self, dataset: Sheet, result: Preview, **kwargs: Any) -> None:
        """Say what was found."""
        result.problems = sorted(
            (BundleProblem(self._place(p.file), p.line, p.message) for p in self._problems),
            key=lambda problem: (problem.line is not None, problem.line or 0),
        )
        result.planned = list(self._planned.values())
        result.seen = self._fingerprint
        if self.table == "services" and not self._problems:
            result.warnings = self._link_warnings()

    def _unknown_columns(self, rows: Sequence[Row]) -> None:
        known = COLUMNS[self.table]
        seen: set[str] = set()
        for row in rows:
            for name in row.values:
                if name not in known and name not in seen:
                    seen.add(name)
                    columns = ", ".join(known)
                    what = f"the column {name[:80]!r} is unknown: {self.table} have {columns}"
                    self._problems.append(BundleProblem(row.file, row.line_of(name), what))

    def _out_of_scope(self, rows: Sequence[Row], stored: Sequence[DraftEntry | None]) -> None:
        scope = frozenset[str]() if self._by is None else agencies_of(self._by)
        for row, values, before in zip(rows, self._merged, stored, strict=True):
            owner = agency_of(self.table, values)
            if not editing.permits(scope, self.table, owner, new=before is None):
                what = f"you do not work for {owner!r}" if owner else _EVERY_AGENCY
                if owner and self.table == "agencies" and before is None:
                    what = f"you may not add the agency {owner!r}"
                column = "id" if self.table == "agencies" else "agency"
                message = f"{what}: leave the row out, or ask somebody who may"
                self._problems.append(BundleProblem(row.file, row.line_of(column), message))

    def _link_warnings(self) -> list[str]:
        touched = [self._merged[index] for index in self._planned]
        links = [(entry_name(self.table, values), values["url"]) for values in touched]
        named = {tuple(identity) for identity in self._entries.identities}
        others = Service.objects.exclude(url="")
        return list(
            link_warnings(
                links,
                [
                    *((entry_name(self.table, v), v["url"]) for v in self._merged),
                    *(
                        (f"{agency} {key}", url)
                        for agency, key, url in others.values_list("agency_id", "key", "url")
                        if (agency, key) not in named
                    ),
                ],
            )
        )

    def _place(self, sheet: str) -> str:
        return f"{self._file}, {sheet}" if sheet else self._file

    def _refuse(self, message: str) -> None:
        self._problems.append(BundleProblem("", None, message))


@cache
def resource_of(table: Table) -> type[DraftResource]:
    """Return the resource of ``table``: a bundle's columns, in a bundle's order."""
    columns = list(COLUMNS[table])
    fields = {
        name: Field(attribute=attribute(name), column_name=name, widget=Plain()) for name in columns
    }
    options = {
        "fields": columns,
        "export_order": columns,
        "use_bulk": True,
        "batch_size": None,
        "skip_diff": True,
        "name": table,
    }
    made: type[DraftResource] = modelresource_factory(
        DRAFT_MODELS[table], DraftResource, options, fields
    )
    made.table = table
    return made

"""The tables of the draft as django-import-export's resources: its pages call them.

What a row must be, and writing, is editing's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from import_export.fields import Field
from import_export.resources import ModelResource, modelresource_factory
from import_export.results import Result
from import_export.widgets import Widget

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import BundleProblem, Row, Table
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import Entries, attribute
from ieim.studio.drafts.history import agency_of, difference, readable
from ieim.studio.drafts.selectors import entry_name, link_warnings
from ieim.studio.exchange.files import Sheet
from ieim.studio.models import DRAFT_MODELS, Change, DraftEntry, Service

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
        given = {name: pair for name, pair in self.fields.items() if name != "position" and pair[1]}
        return readable(given)


class Preview(Result):
    """What an import would do, or did. ``seen`` is the draft that it was compared with."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[BundleProblem] = []
        self.warnings: list[str] = []
        self.planned: list[Planned] = []
        self.seen = ""

    def has_errors(self) -> bool:
        return bool(self.problems) or super().has_errors()

    @property
    def places(self) -> list[str]:
        return [str(problem) for problem in self.problems]


class Plain(Widget):
    """Hands a value on as the draft has it: how it is written is the file's business."""

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> Any:
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

    def import_data(
        self, dataset: Sheet, dry_run: bool = False, file_name: str = "", **kwargs: Any
    ) -> Preview:
        """Check every row, and write all that change something unless anything is wrong."""
        self._check(dataset)
        if not dry_run and not self._problems and self._by is not None:
            self._write(self._by)
        file = file_name or "the file"
        result = Preview()
        result.total_rows = len(dataset.upload.rows)
        result.problems = sorted(
            (
                BundleProblem(f"{file}, {p.file}" if p.file else file, p.line, p.message)
                for p in self._problems
            ),
            key=lambda problem: (problem.line is not None, problem.line or 0),
        )
        result.planned = list(self._planned.values())
        result.seen = self._fingerprint
        if self.table == "services" and not self._problems:
            result.warnings = self._link_warnings()
        return result

    def _check(self, dataset: Sheet) -> None:
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
        wrong, self._merged = entries.check(new=())
        for index, found in wrong.items():
            for column, problems in found.items():
                row, line = rows[index], rows[index].line_of(column)
                self._problems.extend(BundleProblem(row.file, line, one.text) for one in problems)
        self._out_of_scope(rows, stored)
        for index, (before, values) in enumerate(zip(stored, self._merged, strict=True)):
            if fields := difference(entries.values_of(before) if before else None, values):
                name = entry_name(self.table, values)
                self._planned[index] = Planned(name, before is None, fields)
        versions = [[list(i), e.seen] for i, e in zip(entries.identities, self._edits, strict=True)]
        self._fingerprint = digest(versions)

    def _write(self, by: User) -> None:
        if self._seen != self._fingerprint:
            self._refuse("somebody changed these entries after the preview: look at it again")
            return
        edits = [edit for index, edit in enumerate(self._edits) if index in self._planned]
        try:
            editing.save_all(table=self.table, edits=edits, by=by, source=Change.Source.FILE)
        except (editing.Stale, editing.OutOfScope, editing.ManyInvalid) as error:
            self._refuse(f"{error} Look at the preview again.")

    def _unknown_columns(self, rows: Sequence[Row]) -> None:
        columns = COLUMNS[self.table]
        seen: set[str] = set()
        for row in rows:
            for name in row.values:
                if name not in columns and name not in seen:
                    seen.add(name)
                    names = ", ".join(columns)
                    what = f"the column {name[:80]!r} is unknown: {self.table} have {names}"
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
        urls = [(entry_name(self.table, values), values["url"]) for values in self._merged]
        urls += [
            (f"{agency} {key}", url)
            for agency, key, url in others.values_list("agency_id", "key", "url")
            if (agency, key) not in named
        ]
        return list(link_warnings(links, urls))

    def _refuse(self, message: str) -> None:
        self._problems.append(BundleProblem("", None, message))


@cache
def resource_of(table: Table) -> type[DraftResource]:
    """Return the resource of ``table``: a bundle's columns, in a bundle's order."""
    columns = list(COLUMNS[table])
    fields = {
        name: Field(attribute=attribute(name), column_name=name, widget=Plain()) for name in columns
    }
    options = {"fields": columns, "export_order": columns, "name": table}
    made: type[DraftResource] = modelresource_factory(
        DRAFT_MODELS[table], DraftResource, options, fields
    )
    made.table = table
    return made

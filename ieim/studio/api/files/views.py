"""The draft as files: a table out and in, a file of an open standard in.

An import is asked for twice with the same body: the first time it answers what it would change and
a digest of that, the second time it brings the digest and is written. So nothing waits anywhere
between the two, and what is written is what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, ClassVar

from django.http import Http404, HttpResponse
from rest_framework.exceptions import (
    APIException,
    ParseError,
    PermissionDenied,
    ValidationError,
)
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.knowledge.bundles.rows import OF_NO_AGENCY, TABLES, BundleProblem, Table
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.api.entries import visible
from ieim.studio.api.files import schema
from ieim.studio.api.files.serializers import (
    ExportQuerySerializer,
    ImportQuerySerializer,
    ImportSerializer,
    StandardQuerySerializer,
)
from ieim.studio.api.files.uploads import (
    TABLE_TYPES,
    AStandard,
    ATable,
    Sent,
    StandardParser,
    TableParser,
)
from ieim.studio.api.staff import Changed, StaffView
from ieim.studio.drafts.editing import OutOfScope
from ieim.studio.drafts.history import readable
from ieim.studio.exchange.formats import TableFormat, Unreadable, formats_of
from ieim.studio.exchange.importing import Preview, resource_of
from ieim.studio.models import Agency
from ieim.studio.standards.reading import read_standard
from ieim.studio.standards.report import Report, StandardError
from ieim.studio.standards.services import Moved, Plan, merge, plan

MOVED = "The draft or the file is not what was previewed. Look at the preview again."
_FILE = "the file"


class NotImported(APIException):
    """422: a file that cannot be used; ``errors`` has every reason and where it is."""

    status_code = 422
    default_detail = "The file cannot be used. Nothing was changed."

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__()
        self.errors = errors


class NotExported(APIException):
    """422: the kind of file cannot hold the entries."""

    status_code = 422


class FileView(StaffView):
    """A resource that takes files."""

    http_method_names = ["get", "head", "post"]

    def sent(self, request: Request) -> Sent:
        """Return the file of a person who may import it."""
        body: Any = request.data
        if not isinstance(body, Sent):  # the framework does not parse an empty body
            raise ParseError("Send the file as the body.")
        return body


class TableFile(FileView):
    """One table as a file."""

    table: ClassVar[Table]
    parser_classes = [TableParser]
    content_negotiation_class = ATable

    def get(self, request: Request) -> HttpResponse:
        """Read the entries that the user may see as a file, which can be sent back."""
        query = ExportQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        wanted = query.validated_data
        rows = visible(self.table, self.user)
        if "agency" in wanted:
            if self.table in OF_NO_AGENCY:
                raise ParseError("These entries belong to no agency: leave agency out.")
            column = "id" if self.table == "agencies" else "agency_id"
            rows = rows.filter(**{column: wanted["agency"]})
        made = next(f for f in formats_of(self.table) if f.kind == wanted["format"])
        try:
            file = made().export_data(resource_of(self.table)().export(rows))
        except ValueError as error:
            raise NotExported(str(error)) from error
        name = f'attachment; filename="{self.table}.{made.kind}"'
        return HttpResponse(file, content_type=made.mime, headers={"Content-Disposition": name})

    def post(self, request: Request) -> Response:
        """Say what a file would change; with the digest of that, change it."""
        query = ImportQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        sent = self.sent(request)
        made = TABLE_TYPES[sent.media_type]
        format_ = next(f for f in formats_of(self.table) if f.kind == made)
        shown = self._imported(format_, sent.data, seen="")
        seal = digest([self.table, made, shown.seen, sha256(sent.data).hexdigest()])
        confirmed = query.validated_data.get("confirm")
        if confirmed is not None:
            if confirmed != seal:
                raise Changed(MOVED)
            shown = self._imported(format_, sent.data, seen=shown.seen)
        return Response(ImportSerializer(self._answer(shown, seal, confirmed is not None)).data)

    def _imported(self, format_: type[TableFormat], data: bytes, seen: str) -> Preview:
        """Return what importing does; without ``seen`` nothing is written."""
        try:
            rows = format_().create_dataset(data)
        except Unreadable as error:
            raise NotImported([_of_table(problem) for problem in error.problems]) from error
        resource = resource_of(self.table)(by=self.user, seen=seen)
        result: Any = resource.import_data(
            rows, dry_run=not seen, raise_errors=True, file_name=_FILE
        )
        if result.has_errors():
            raise NotImported([_of_table(problem) for problem in result.problems])
        found: Preview = result
        return found

    def _answer(self, shown: Preview, seal: str, written: bool) -> dict[str, Any]:
        new = sum(planned.new for planned in shown.planned)
        return {
            "written": written,
            "digest": seal,
            "added": new,
            "changed": len(shown.planned) - new,
            "unchanged": shown.total_rows - len(shown.planned),
            "entries": [
                _planned(self.table, each.entry, each.new, each.fields) for each in shown.planned
            ],
            "warnings": shown.warnings,
            "notes": [],
        }


@schema.standard
class StandardFile(FileView):
    """A file of an open standard."""

    parser_classes = [StandardParser]
    content_negotiation_class = AStandard
    http_method_names = ["post"]

    def post(self, request: Request) -> Response:
        """Say what a file would change; with the digest of that, change it."""
        query = StandardQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        agency, confirmed = (query.validated_data.get(name) for name in ("agency", "confirm"))
        self._require(agency)
        try:
            mapped, report = read_standard(self.sent(request).data, into=agency)
            if confirmed is None:
                done = plan(mapped)
            else:
                done = merge(mapped=mapped, by=self.user, seen=confirmed)
        except StandardError as error:
            problems = [{"pointer": p.pointer, "detail": p.message} for p in error.problems]
            raise NotImported(problems) from error
        except Moved as error:
            raise Changed(MOVED) from error
        except OutOfScope as error:
            raise PermissionDenied(str(error)) from error
        return Response(ImportSerializer(_merged(done, report, confirmed is not None)).data)

    def _require(self, agency: str | None) -> None:
        """Refuse an agency that is not there for the user, and none where theirs are single."""
        scope = agencies_of(self.user)
        if agency is None:
            if scope is not None:
                raise ValidationError({"agency": ["Say which agency the file is for."]})
        elif not Agency.objects.filter(pk=agency).exists() or agency not in (scope or {agency}):
            raise Http404


def _merged(done: Plan, report: Report, written: bool) -> dict[str, Any]:
    counts = done.counts.values()
    return {
        "written": written,
        "digest": done.fingerprint,
        **{what: sum(each[what] for each in counts) for what in ("added", "changed", "unchanged")},
        "entries": [_planned(e.table, e.name, e.is_new, e.fields) for e in done.entries],
        "warnings": [],
        "notes": [
            {"what": n.what, "pattern": n.pattern, "first": n.first, "times": n.times}
            | {"why": n.why}
            for n in report.notes
        ],
    }


def _planned(table: Table, entry: str, new: bool, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "table": table,
        "entry": entry,
        "change": "added" if new else "changed",
        "differences": [
            {"field": name, "before": before, "after": after}
            for name, before, after in readable(fields)
        ],
    }


def _of_table(problem: BundleProblem) -> dict[str, Any]:
    where: dict[str, Any] = {"pointer": "", "detail": problem.message}
    if place := problem.file.removeprefix(_FILE).removeprefix(", "):
        where["place"] = place
    if problem.line is not None:
        where["line"] = problem.line
    return where


FILES: Mapping[Table, type[TableFile]] = {
    table: schema.table(table)(type(f"{table.title()}File", (TableFile,), {"table": table}))
    for table in TABLES
}

"""The draft as files: a table out and in, a file of an open standard in.

An import is asked for twice with the same body: the first time it answers what it would change and
a digest of that, the second time it brings the digest and is written. So nothing waits anywhere
between the two, and what is written is what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import IO, Any, ClassVar

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from conversations.api.base import JSONOnly
from conversations.api.errors import MEDIA_TYPE, TooLarge
from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.knowledge.bundles.rows import TABLES, BundleProblem, Table
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.api.entries import visible
from ieim.studio.api.schema import FILE_REFUSED, MOVED, NotDone, StaffViewSet, operation
from ieim.studio.api.serializers import (
    ExportQuerySerializer,
    FileProblemSerializer,
    ImportQuerySerializer,
    ImportSerializer,
    StandardQuerySerializer,
)
from ieim.studio.api.staff import Changed
from ieim.studio.exchange.files import MAX_BYTES, MEDIA_TYPES, export, read
from ieim.studio.exchange.importing import (
    Plan,
    Planned,
    plan_import,
    service_warnings,
    table_problems,
    table_rows,
    write_import,
)
from ieim.studio.models import Agency
from ieim.studio.standards.reading import read_standard
from ieim.studio.standards.report import Report
from ieim.studio.standards.services import merge, plan

TABLE_TYPES: Mapping[str, str] = {
    media_type.partition(";")[0]: kind for kind, media_type in MEDIA_TYPES.items()
}
"""The kind of file that a media type is."""
STANDARD_TYPES = ("application/json", "application/ld+json")

_FILE = "the file"
_ROWS = {"type": "array", "items": {"type": "object"}}
_SHAPES: dict[str, Any] = {
    media_type: _ROWS if kind in ("json", "yaml") else OpenApiTypes.BINARY
    for media_type, kind in TABLE_TYPES.items()
}
_TWICE = (
    "Without `confirm` nothing is written: the answer says what would change. Send the same file "
    "again with `confirm`, the answer's `digest`, and it is written, all or nothing. 412 says that "
    "the draft or the file is no longer what was previewed. Nothing is ever removed."
)
_NOT_USED = {
    (422, MEDIA_TYPE): OpenApiResponse(
        FileProblemSerializer, description="The file cannot be used; `errors` has every reason."
    )
}


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, and the media type that the request gives it."""

    media_type: str
    data: bytes


class FileParser(BaseParser):
    """The body is the file, of one of the media types ``accepted``."""

    media_type = "*/*"
    limit: ClassVar[int]
    accepted: ClassVar[frozenset[str]]

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the file as :class:`Upload`; raises TooLarge."""
        data = stream.read(self.limit + 1)
        if len(data) > self.limit:
            raise TooLarge(f"The file is too large. Send no more than {self.limit // 2**20} MiB.")
        return Upload(_plain(media_type), data)


class TableParser(FileParser):
    """A file of one table: CSV, XLSX, YAML or JSON."""

    limit = MAX_BYTES
    accepted = frozenset(TABLE_TYPES)


class StandardParser(FileParser):
    """A file of a standard: JSON, or JSON-LD."""

    limit = MAX_FILE_BYTES
    accepted = frozenset(STANDARD_TYPES)


class FileNegotiation(JSONOnly):
    """A file comes in; the answer is JSON, whatever ``Accept`` asks for."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        return parsers[0] if _plain(request.content_type) in parsers[0].accepted else None


def _plain(media_type: str | None) -> str:
    return (media_type or "").partition(";")[0].strip().lower()


class FileView(StaffViewSet):
    content_negotiation_class = FileNegotiation

    def upload(self, request: Request) -> Upload:
        """Return the file in the body."""
        body: Any = request.data
        if not isinstance(body, Upload):  # the framework does not parse an empty body
            raise ParseError("Send the file as the body.")
        return body


def file_of(table: Table) -> type[FileView]:
    """Return the resource of one table as a file."""

    class TableFile(FileView):
        parser_classes = [TableParser]

        @operation(
            f"export_{table}",
            f"Read the draft's {table} as a file",
            "Those that you may see. The file can be changed and sent back.",
            query=ExportQuerySerializer,
            also=[422],
            responses={(200, media_type): shape for media_type, shape in _SHAPES.items()},
        )
        def read(self, request: Request, query: dict[str, Any]) -> HttpResponse:
            rows = visible(table, self.user, query.get("agency"))
            kind = query["format"]
            try:
                file = export(kind, table, rows)
            except ValueError as error:
                raise NotDone(str(error)) from error
            headers = {"Content-Disposition": f'attachment; filename="{table}.{kind}"'}
            return HttpResponse(file, content_type=MEDIA_TYPES[kind], headers=headers)

        @operation(
            f"import_{table}",
            f"Import a file into the draft's {table}",
            "Entries that the file names are added or changed; columns that it does not have stay "
            f"as they are. {_TWICE}",
            query=ImportQuerySerializer,
            answer=ImportSerializer,
            also=[412],
            request=_SHAPES,
            responses=_NOT_USED,
        )
        def take(self, request: Request, query: dict[str, Any]) -> Any:
            file = self.upload(request)
            kind = TABLE_TYPES[file.media_type]
            source = read(kind, table, file.data)
            rows = table_rows(table, source)
            planned = plan_import(rows, by=self.user)
            _check(table_problems(table, source, planned, _FILE))
            seen = planned.fingerprint
            seal = digest([table, kind, seen, sha256(file.data).hexdigest()])
            confirmed = query.get("confirm")
            warnings = service_warnings(planned)
            if confirmed is not None:
                if confirmed != seal:
                    raise Changed(MOVED)
                planned = write_import(rows, by=self.user, seen=seen)
                _check(table_problems(table, source, planned, _FILE))
            answer = _answer(planned, written=confirmed is not None)
            return {**answer, "digest": seal, "warnings": warnings}

    return TableFile


class StandardFile(FileView):
    parser_classes = [StandardParser]

    @operation(
        "import_standard",
        "Import a file of an open standard into the draft",
        "Open Referral HSDS 3 (JSON), schema.org GovernmentService or CPSV-AP (JSON-LD). `notes` "
        f"name what has no place in the draft. {_TWICE}",
        query=StandardQuerySerializer,
        answer=ImportSerializer,
        also=[404, 412],
        request={kind: {"type": ["object", "array"]} for kind in STANDARD_TYPES},
        responses=_NOT_USED,
    )
    def take(self, request: Request, query: dict[str, Any]) -> Any:
        agency, confirmed = query.get("agency"), query.get("confirm")
        scope = agencies_of(self.user)
        if agency is None and scope is not None:
            raise ValidationError({"agency": ["Say which agency the file is for."]})
        if agency is not None and (
            not Agency.objects.filter(pk=agency).exists() or agency not in (scope or {agency})
        ):
            raise Http404
        mapped, report = read_standard(self.upload(request).data, into=agency)
        if confirmed is None:
            return _merged(plan(mapped, self.user), report, written=False)
        return _merged(merge(mapped=mapped, by=self.user, seen=confirmed), report, written=True)


def _merged(plan: Plan, report: Report, *, written: bool) -> dict[str, Any]:
    return {**_answer(plan, written=written), "notes": report.notes}


def _answer(plan: Plan, *, written: bool) -> dict[str, Any]:
    counts = plan.counts.values()
    return {
        "written": written,
        "digest": plan.fingerprint,
        **{
            what: sum(table[what] for table in counts) for what in ("added", "changed", "unchanged")
        },
        "entries": [_planned(entry) for entry in plan.entries],
        "warnings": [],
        "notes": [],
    }


def _planned(entry: Planned) -> dict[str, Any]:
    return {
        "table": entry.table,
        "entry": entry.name,
        "change": "added" if entry.is_new else "changed",
        "differences": [
            {"field": name, "before": before, "after": after} for name, before, after in entry.shown
        ],
    }


def _check(problems: list[BundleProblem]) -> None:
    errors = []
    for problem in problems:
        error: dict[str, Any] = {"pointer": "", "detail": problem.message}
        if place := problem.file.removeprefix(_FILE).removeprefix(", "):
            error["place"] = place
        if problem.line is not None:
            error["line"] = problem.line
        errors.append(error)
    if errors:
        raise NotDone(FILE_REFUSED, errors)


FILES: Mapping[Table, type[FileView]] = {table: file_of(table) for table in TABLES}

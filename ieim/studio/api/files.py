"""The draft as files: export and import of a table, import of a file of an open standard.

An import is sent twice with the same body: the first answer is a preview with a digest, the second
request carries the digest and writes. So nothing is stored between the two, and what is written is
what was previewed.
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
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from conversations.api.base import JSONOnly
from conversations.api.errors import MEDIA_TYPE, TooLarge
from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.knowledge.bundles.rows import TABLES, BundleProblem, Table
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import digest
from ieim.studio.api import serializers
from ieim.studio.api.entries import visible
from ieim.studio.api.schema import (
    FILE_REFUSED,
    MOVED,
    KnowledgeViewSet,
    NotDone,
    operation,
    validated,
)
from ieim.studio.api.staff import Changed
from ieim.studio.exchange.files import MAX_BYTES, MEDIA_TYPES, export, read
from ieim.studio.exchange.importing import (
    Plan,
    Planned,
    ignored_columns,
    plan_import,
    service_warnings,
    table_problems,
    table_rows,
    write_import,
)
from ieim.studio.models import Agency
from ieim.studio.standards.services import merge, plan, read_standard

TABLE_TYPES: Mapping[str, str] = {
    media_type.partition(";")[0]: kind for kind, media_type in MEDIA_TYPES.items()
}
"""The kind of file by media type."""
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
        serializers.FileProblemSerializer,
        description="The file cannot be used; `errors` has every reason.",
    )
}


@dataclass(frozen=True, slots=True)
class Upload:
    """A file and its media type in the request."""

    media_type: str
    data: bytes


class FileParser(BaseParser):
    """The body as a file of one of the media types ``accepted``."""

    media_type = "*/*"
    limit: ClassVar[int]
    accepted: ClassVar[frozenset[str]]

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the body as :class:`Upload`.

        Raises:
            TooLarge: it exceeds ``limit`` bytes.
        """
        data = stream.read(self.limit + 1)
        if len(data) > self.limit:
            raise TooLarge(f"The file is too large. Send no more than {self.limit // 2**20} MiB.")
        return Upload(_normalized(media_type), data)


class TableParser(FileParser):
    """A file of one table: CSV, XLSX, YAML or JSON."""

    limit = MAX_BYTES
    accepted = frozenset(TABLE_TYPES)


class StandardParser(FileParser):
    """A file of a standard: JSON or JSON-LD."""

    limit = MAX_FILE_BYTES
    accepted = frozenset(STANDARD_TYPES)


class FileNegotiation(JSONOnly):
    """A file as the body; the answer is JSON, whatever ``Accept`` says."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        is_accepted = _normalized(request.content_type) in parsers[0].accepted
        return parsers[0] if is_accepted else None


def _normalized(media_type: str | None) -> str:
    return (media_type or "").partition(";")[0].strip().lower()


class FileViewSet(KnowledgeViewSet):
    content_negotiation_class = FileNegotiation

    def query(self, serializer_class: type[Serializer[Any]]) -> dict[str, Any]:
        """Return the validated query of the address, in which ``take`` may stand several times."""
        data: dict[str, Any] = self.request.query_params.dict()
        if "take" in data:
            data["take"] = [name for name in self.request.query_params.getlist("take") if name]
        return validated(serializer_class(data=data))

    def upload(self) -> Upload:
        """Return the file in the body."""
        body: Any = self.request.data
        if not isinstance(body, Upload):  # the framework does not parse an empty body
            raise ParseError("Send the file as the body.")
        return body


def table_files(table: Table) -> type[FileViewSet]:
    """Return the viewset of one table as a file."""

    class TableFiles(FileViewSet):
        parser_classes = [TableParser]

        @operation(
            f"export_{table}",
            f"Read the draft's {table} as a file",
            None,
            "Those that you may see. The file can be changed and sent back.",
            query=serializers.ExportQuerySerializer,
            also=[422],
            responses={(200, media_type): shape for media_type, shape in _SHAPES.items()},
        )
        def retrieve(self, request: Request) -> HttpResponse:
            query = self.query(serializers.ExportQuerySerializer)
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
            serializers.ImportSerializer,
            "Entries that the file names are added or changed; columns that it does not have stay "
            f"as they are. {_TWICE}",
            query=serializers.ImportQuerySerializer,
            body=_SHAPES,
            also=[412],
            responses=_NOT_USED,
        )
        def create(self, request: Request) -> Response:
            query = self.query(serializers.ImportQuerySerializer)
            confirmed, chosen = query.get("confirm"), query.get("take")
            file = self.upload()
            kind = TABLE_TYPES[file.media_type]
            source = read(kind, table, file.data)
            rows = table_rows(table, source)
            planned = plan_import(rows, by=self.user)
            _check(table_problems(table, source, planned, _FILE))
            seen = planned.fingerprint
            fingerprint = digest([table, kind, seen, sha256(file.data).hexdigest()])
            warnings = [*ignored_columns(table, source), *service_warnings(planned)]
            if confirmed is not None:
                if confirmed != fingerprint:
                    raise Changed(MOVED)
                planned = write_import(rows, by=self.user, expected_fingerprint=seen, chosen=chosen)
                _check(table_problems(table, source, planned, _FILE))
            result = _result(planned, confirmed) | {"digest": fingerprint, "warnings": warnings}
            return Response(serializers.ImportSerializer(result).data)

    return TableFiles


class StandardFiles(FileViewSet):
    parser_classes = [StandardParser]

    @operation(
        "import_standard",
        "Import a file of an open standard into the draft",
        serializers.ImportSerializer,
        "Open Referral HSDS 3 (JSON), schema.org GovernmentService or CPSV-AP (JSON-LD). `notes` "
        f"name what has no place in the draft. {_TWICE}",
        query=serializers.StandardQuerySerializer,
        body={kind: {"type": ["object", "array"]} for kind in STANDARD_TYPES},
        also=[404, 412],
        responses=_NOT_USED,
    )
    def create(self, request: Request) -> Response:
        query = self.query(serializers.StandardQuerySerializer)
        agency, confirmed = query.get("agency"), query.get("confirm")
        scope = agencies_of(self.user)
        if agency is None and scope is not None:
            raise ValidationError({"agency": ["Say which agency the file is for."]})
        if agency is not None and (
            not Agency.objects.filter(pk=agency).exists() or agency not in (scope or {agency})
        ):
            raise Http404
        mapped, report = read_standard(self.upload().data, into=agency)
        if confirmed is None:
            changes = plan(mapped, self.user)
        else:
            changes = merge(
                mapped=mapped,
                by=self.user,
                expected_fingerprint=confirmed,
                chosen=query.get("take"),
            )
        result = _result(changes, confirmed) | {"notes": report.notes}
        return Response(serializers.ImportSerializer(result).data)


def _result(plan: Plan, confirmed: str | None) -> dict[str, Any]:
    counts = plan.counts.values()
    return {
        "written": confirmed is not None,
        "digest": plan.fingerprint,
        **{
            change: sum(table[change] for table in counts)
            for change in ("added", "changed", "unchanged")
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
            {"field": name, "before": before, "after": after, "edit": edit, "take": choice}
            for name, before, after, edit, choice in entry.shown
        ],
        "take": entry.choice(),
        "removal": entry.removal,
    }


def _check(problems: list[BundleProblem]) -> None:
    errors = []
    for problem in problems:
        error: dict[str, Any] = {"pointer": "", "detail": problem.message}
        if position := problem.file.removeprefix(_FILE).removeprefix(", "):
            error["place"] = position
        if problem.line is not None:
            error["line"] = problem.line
        errors.append(error)
    if errors:
        raise NotDone(FILE_REFUSED, errors)


FILES: Mapping[Table, type[FileViewSet]] = {table: table_files(table) for table in TABLES}

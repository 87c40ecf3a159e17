"""What the OpenAPI document says of files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view

from conversations.api.errors import MEDIA_TYPE
from ieim.knowledge.bundles.rows import Table
from ieim.studio.api.files.serializers import (
    ExportQuerySerializer,
    FileProblemSerializer,
    ImportQuerySerializer,
    ImportSerializer,
    StandardQuerySerializer,
)
from ieim.studio.api.files.uploads import STANDARD_TYPES, TABLE_TYPES
from ieim.studio.api.schema import problems

View = TypeVar("View", bound=type)

_ROWS = {"type": "array", "items": {"type": "object"}}
_SHAPES: dict[str, Any] = {"json": _ROWS, "yaml": _ROWS}
_TAGS = ["knowledge"]
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
_POSTED = (400, 401, 403, 411, 412, 413, 415)


def table(table: Table) -> Callable[[View], View]:
    """Document the file of ``table``."""
    return extend_schema_view(
        get=extend_schema(
            operation_id=f"export_{table}",
            summary=f"Read the draft's {table} as a file",
            description="Those that you may see. The file can be changed and sent back.",
            tags=_TAGS,
            parameters=[ExportQuerySerializer],
            responses={
                **{
                    (200, kind): _SHAPES.get(made, OpenApiTypes.BINARY)
                    for kind, made in TABLE_TYPES.items()
                },
                **problems(400, 401, 403, 422),
            },
        ),
        post=extend_schema(
            operation_id=f"import_{table}",
            summary=f"Import a file into the draft's {table}",
            description=(
                "Entries that the file names are added or changed; columns that it does not have "
                f"stay as they are. {_TWICE}"
            ),
            tags=_TAGS,
            parameters=[ImportQuerySerializer],
            request={
                kind: _SHAPES.get(made, OpenApiTypes.BINARY) for kind, made in TABLE_TYPES.items()
            },
            responses={200: ImportSerializer, **problems(*_POSTED), **_NOT_USED},
        ),
    )


standard = extend_schema_view(
    post=extend_schema(
        operation_id="import_standard",
        summary="Import a file of an open standard into the draft",
        description=(
            "Open Referral HSDS 3 (JSON), schema.org GovernmentService or CPSV-AP (JSON-LD). "
            f"`notes` name what has no place in the draft. {_TWICE}"
        ),
        tags=_TAGS,
        parameters=[StandardQuerySerializer],
        request={kind: {"type": ["object", "array"]} for kind in STANDARD_TYPES},
        responses={200: ImportSerializer, **problems(*_POSTED, 404), **_NOT_USED},
    )
)

"""Entries of the draft: listed, read, put and removed by their natural ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Q, QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.base import StrictJSONParser
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, OF_NO_AGENCY, TABLES, Table
from ieim.people.scope import agencies_of
from ieim.studio.api.schema import StaffViewSet, operation
from ieim.studio.api.serializers import ADDRESSES, ENTRIES, PAGES, ListQuerySerializer
from ieim.studio.api.staff import Changed, etag, seen_version
from ieim.studio.drafts import editing
from ieim.studio.drafts.editing import Invalid, Stale
from ieim.studio.drafts.entries import attribute, column_values, stored_as
from ieim.studio.models import DRAFT_MODELS, Change, DraftEntry

PAGE = 100
"""Entries of a page."""
SEARCHED = ("id", "key", "code", "name", "value", "category", "service", "flag", "text")
"""Columns in which ``q`` is looked for, where a table has them."""

_HEADER: Final = OpenApiParameter.HEADER
_TAG = OpenApiParameter(
    "ETag", str, _HEADER, description="The entry's version, for `If-Match`.", response=[200, 201]
)
_SEEN = OpenApiParameter(
    "If-Match",
    str,
    _HEADER,
    description="The ETag of the entry as you have seen it. `*` never fits.",
    examples=[OpenApiExample("The ETag", value='"3"')],
)
_NEW = OpenApiParameter(
    "If-None-Match", str, _HEADER, enum=["*"], description="`*`: the entry must not be there yet."
)


class EntryParser(StrictJSONParser):
    """A service with all its texts is longer than a message."""

    limit = 512 * 1024


def visible(table: Table, user: Any, agency: str | None = None) -> QuerySet[DraftEntry]:
    """Return the entries of ``table`` that ``user`` may see: of their agencies, and of none.

    With an ``agency`` only its entries; raises ParseError for a table whose entries have none.
    """
    rows: QuerySet[DraftEntry] = DRAFT_MODELS[table]._default_manager.all()
    column = "id" if table == "agencies" else "agency_id"
    if table in OF_NO_AGENCY:
        if agency is not None:
            raise ParseError("These entries belong to no agency: leave agency out.")
        return rows
    if agency is not None:
        rows = rows.filter(**{column: agency})
    agencies = agencies_of(user)
    return rows if agencies is None else rows.filter(**{f"{column}__in": agencies})


def _found(table: Table, rows: QuerySet[DraftEntry], query: Mapping[str, Any]) -> Any:
    """Return the rows that a query asks for, in the order of the list."""
    if words := query.get("q"):
        found = Q()
        for name in SEARCHED:
            if name in COLUMNS[table]:
                found |= Q(**{f"{name}__icontains": words})
        rows = rows.filter(found)
    if after := query.get("after"):
        if table != "agencies" and not (after.isascii() and after.isdigit()):
            raise ParseError("There is no such page of the list.")
        rows = rows.filter(pk__gt=after[:18] if table != "agencies" else after)
    return rows.order_by("pk")


def _values(row: DraftEntry) -> dict[str, Any]:
    """Return an entry as a bundle has it, and its version."""
    return column_values(row) | {"version": row.version}


class Entries(StaffViewSet):
    """The entries of one table: the list, and one entry by its natural id in the query.

    The methods become operations in :func:`entries_of`, which knows the columns of the table.
    """

    table: ClassVar[Table]
    parser_classes = [EntryParser]

    def index(self, request: Request, query: dict[str, Any]) -> Any:
        table = self.table
        rows = visible(table, self.user, query.get("agency"))
        page = list(_found(table, rows, query)[: PAGE + 1])
        following = None
        if len(page) > PAGE:
            after = urlencode({**query, "after": page[PAGE - 1].pk})
            following = f"{reverse(f'knowledge_api:{table}')}?{after}"
        return {"items": [_values(row) for row in page[:PAGE]], "next": following}

    def read(self, request: Request, query: dict[str, str]) -> Response:
        return self._shown(self._find(query))

    def save(self, request: Request, query: dict[str, str]) -> Response:
        identity = self._identity(query)
        adding = request.headers.get("If-None-Match", "").strip() == "*"
        seen = None if adding else seen_version(request)
        data: Any = request.data
        for name, value in identity.items():
            if data.get(name, value) != value:
                raise ValidationError({name: ["It differs from the address. Leave it out."]})
        body = ENTRIES[self.table](data=data)
        body.is_valid(raise_exception=True)
        values = {**body.validated_data, **identity}
        try:
            row = editing.save(
                table=self.table, values=values, by=self.user, seen=seen, source=Change.Source.API
            )
        except Invalid as invalid:
            if adding and self._rows(query).exists():
                raise Changed from invalid
            raise
        except Stale as stale:
            if not self._rows(query).exists():
                raise Http404 from stale
            raise
        return self._shown(row, 201 if adding else 200)

    def remove(self, request: Request, query: dict[str, str]) -> Response:
        seen = seen_version(request)
        self._find(query)
        editing.remove(
            table=self.table,
            identity=self._identity(query),
            by=self.user,
            seen=seen,
            source=Change.Source.API,
        )
        return Response(status=204)

    def _identity(self, query: Mapping[str, str]) -> dict[str, str]:
        return {name: query.get(name, "") for name in IDENTITY[self.table]}

    def _rows(self, query: Mapping[str, str]) -> QuerySet[DraftEntry]:
        identity = {
            attribute(name): stored_as(name, value) for name, value in self._identity(query).items()
        }
        return visible(self.table, self.user).filter(**identity)

    def _find(self, query: Mapping[str, str]) -> DraftEntry:
        try:
            return self._rows(query).get()
        except ObjectDoesNotExist as error:
            raise Http404 from error

    def _shown(self, row: DraftEntry, status: int = 200) -> Response:
        data = ENTRIES[self.table](_values(row)).data
        return Response(data, status=status, headers={"ETag": etag(row.version)})


def entries_of(table: Table) -> type[Entries]:
    """Return the resources of a table with their operations."""
    body, address, one = ENTRIES[table], ADDRESSES[table], f"an entry of the draft's {table}"
    operations = {
        "index": operation(
            f"list_{table}",
            f"Read the draft's {table}",
            "Those that you may see, a page at a time. Follow `next`.",
            query=ListQuerySerializer,
            answer=PAGES[table],
        )(Entries.index),
        "read": operation(
            f"read_{table}_entry",
            f"Read {one}",
            query=address,
            also=[404],
            parameters=[_TAG],
            responses={200: body},
        )(Entries.read),
        "save": operation(
            f"put_{table}_entry",
            f"Add or change {one}",
            "Columns that are left out stay as they are. Who adds sends `If-None-Match: *`, who "
            "changes `If-Match` with the version that was read.",
            query=address,
            also=[404, 412, 422, 428],
            parameters=[_SEEN, _NEW, _TAG],
            request=body,
            responses={200: body, 201: body},
        )(Entries.save),
        "remove": operation(
            f"remove_{table}_entry",
            f"Remove {one}",
            "422 while something else refers to it.",
            query=address,
            also=[404, 412, 422, 428],
            parameters=[_SEEN],
            responses={204: OpenApiResponse(description="Removed.")},
        )(Entries.remove),
    }
    return type(f"{table.title()}Entries", (Entries,), {"table": table, **operations})


VIEWS: Mapping[Table, type[Entries]] = {table: entries_of(table) for table in TABLES}

"""Entries of the draft: listed, read, put and removed by their natural ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Q, QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    extend_schema_view,
)
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.base import StrictJSONParser
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, OF_NO_AGENCY, TABLES, Table
from ieim.people.scope import agencies_of
from ieim.studio.api.schema import KnowledgeViewSet, operation
from ieim.studio.api.serializers import ADDRESSES, ENTRIES, PAGES, ListQuerySerializer
from ieim.studio.api.staff import Changed, etag, seen_version
from ieim.studio.drafts import editing
from ieim.studio.drafts.editing import Invalid, Stale
from ieim.studio.drafts.entries import attribute, column_values, stored_as
from ieim.studio.models import DRAFT_MODELS, Change, DraftEntry

PAGE_SIZE = 100
SEARCHED = ("id", "key", "code", "name", "value", "category", "service", "flag", "text")
"""Columns that ``q`` searches, where a table has them."""

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
    """JSON that may be longer than a message: a service with all its texts."""

    limit = 512 * 1024


def visible(table: Table, user: Any, agency: str | None = None) -> QuerySet[DraftEntry]:
    """Return the entries of ``table`` that ``user`` may see: of their agencies, and of none.

    With an ``agency`` only its entries.

    Raises:
        ParseError: the entries of the table belong to no agency.
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


class Entries(KnowledgeViewSet):
    """The entries of one table: the list, and one entry by its natural id in the query."""

    table: ClassVar[Table]
    parser_classes = [EntryParser]

    def list(self, request: Request) -> Response:
        query = self.query(ListQuerySerializer)
        rows = visible(self.table, self.user, query.get("agency"))
        if words := query.get("q"):
            columns = [name for name in SEARCHED if name in COLUMNS[self.table]]
            conditions = [(f"{name}__icontains", words) for name in columns]
            rows = rows.filter(Q(*conditions, _connector=Q.OR))
        if after := query.get("after"):
            if self.table != "agencies":
                if not (after.isascii() and after.isdigit()):
                    raise ParseError("There is no such page of the list.")
                after = after[:18]
            rows = rows.filter(pk__gt=after)
        page = [*rows.order_by("pk")[: PAGE_SIZE + 1]]
        next_page = None
        if len(page) > PAGE_SIZE:
            address = urlencode({**query, "after": page[PAGE_SIZE - 1].pk})
            next_page = f"{reverse(f'knowledge_api:{self.table}')}?{address}"
        items = [_values(row) for row in page[:PAGE_SIZE]]
        return Response(PAGES[self.table]({"items": items, "next": next_page}).data)

    def retrieve(self, request: Request) -> Response:
        return self._response(self.get_object())

    def update(self, request: Request) -> Response:
        identity = self._identity()
        is_new = request.headers.get("If-None-Match", "").strip() == "*"
        version = None if is_new else seen_version(request)
        data: Any = request.data
        for name, value in identity.items():
            if data.get(name, value) != value:
                raise ValidationError({name: ["It differs from the address. Leave it out."]})
        values = {**self.validated(ENTRIES[self.table]), **identity}
        try:
            row = editing.save(
                table=self.table,
                values=values,
                by=self.user,
                expected_version=version,
                source=Change.Source.API,
            )
        except Invalid as invalid:
            if is_new and self._matches().exists():
                raise Changed from invalid
            raise
        except Stale as stale:
            if not self._matches().exists():
                raise Http404 from stale
            raise
        return self._response(row, 201 if is_new else 200)

    def destroy(self, request: Request) -> Response:
        identity, version = self._identity(), seen_version(request)
        self.get_object()
        editing.remove(
            table=self.table,
            identity=identity,
            by=self.user,
            expected_version=version,
            source=Change.Source.API,
        )
        return Response(status=204)

    def get_object(self) -> DraftEntry:
        try:
            return self._matches().get()
        except ObjectDoesNotExist as error:
            raise Http404 from error

    def _identity(self) -> dict[str, str]:
        query = self.query(ADDRESSES[self.table])
        return {name: query.get(name, "") for name in IDENTITY[self.table]}

    def _matches(self) -> QuerySet[DraftEntry]:
        columns = {
            attribute(name): stored_as(name, value) for name, value in self._identity().items()
        }
        return visible(self.table, self.user).filter(**columns)

    def _response(self, row: DraftEntry, status: int = 200) -> Response:
        data = ENTRIES[self.table](_values(row)).data
        return Response(data, status=status, headers={"ETag": etag(row.version)})


def _values(row: DraftEntry) -> dict[str, Any]:
    return column_values(row) | {"version": row.version}


def entries_of(table: Table) -> type[Entries]:
    """Return the viewset of a table with its documentation."""
    body, address, entry = ENTRIES[table], ADDRESSES[table], f"an entry of the draft's {table}"
    documented = extend_schema_view(
        list=operation(
            f"list_{table}",
            f"Read the draft's {table}",
            PAGES[table],
            "Those that you may see, a page at a time. Follow `next`.",
            query=ListQuerySerializer,
        ),
        retrieve=operation(
            f"read_{table}_entry",
            f"Read {entry}",
            body,
            query=address,
            also=[404],
            parameters=[_TAG],
        ),
        update=operation(
            f"put_{table}_entry",
            f"Add or change {entry}",
            body,
            "Columns that are left out stay as they are. Who adds sends `If-None-Match: *`, who "
            "changes `If-Match` with the version that was read.",
            query=address,
            body=body,
            also=[404, 412, 422, 428],
            parameters=[_SEEN, _NEW, _TAG],
            responses={201: body},
        ),
        destroy=operation(
            f"remove_{table}_entry",
            f"Remove {entry}",
            None,
            "422 while something else refers to it.",
            query=address,
            also=[404, 412, 422, 428],
            parameters=[_SEEN],
            responses={204: OpenApiResponse(description="Removed.")},
        ),
    )
    return documented(type(f"{table.title()}Entries", (Entries,), {"table": table}))


VIEWS: Mapping[Table, type[Entries]] = {table: entries_of(table) for table in TABLES}

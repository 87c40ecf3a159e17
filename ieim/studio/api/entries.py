"""Entries of the draft: listed, read, put and removed by their natural ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast
from urllib.parse import urlencode

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Q, QuerySet
from django.http import Http404
from django.urls import reverse
from rest_framework.exceptions import APIException, ParseError, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.parsing import StrictJSONParser
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, OF_NO_AGENCY, TABLES, Table
from ieim.people.scope import agencies_of
from ieim.studio.api import schema
from ieim.studio.api.entry_serializers import ADDRESSES, ENTRIES, PAGES, ListQuerySerializer
from ieim.studio.api.staff import Changed, StaffView, etag, seen_version
from ieim.studio.drafts import editing
from ieim.studio.drafts.editing import Invalid, OutOfScope, Stale
from ieim.studio.drafts.entries import Problems
from ieim.studio.drafts.selectors import DRAFT_MODELS
from ieim.studio.models import Change, DraftEntry

PAGE = 100
"""Entries of a page."""
SEARCHED = ("id", "key", "code", "name", "value", "category", "service", "flag", "text")
"""Columns in which ``q`` is looked for, where a table has them."""
ADD_ONLY = "*"


class EntryParser(StrictJSONParser):
    """A service with all its texts is longer than a message."""

    limit = 512 * 1024


class NotThis(APIException):
    """422: the values break a rule; ``errors`` point at them."""

    status_code = 422
    default_detail = "Some values break a rule of the knowledge."

    def __init__(self, problems: Problems) -> None:
        super().__init__()
        self.errors = [
            {"pointer": f"/{column}", "detail": f"{column} {one.text}"}
            for column, found in problems.items()
            for one in found
        ]


class Entries(StaffView):
    """The entries of one table that the user may see."""

    table: ClassVar[Table]
    parser_classes = [EntryParser]
    http_method_names = ["get", "head"]

    def get(self, request: Request) -> Response:
        """Read a page of the table."""
        query = ListQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        rows = self._found(query.validated_data)
        page = list(rows[: PAGE + 1])
        more = len(page) > PAGE
        address = None
        if more:
            after = {**query.validated_data, "after": page[PAGE - 1].pk}
            address = f"{reverse(f'knowledge_api:{self.table}')}?{urlencode(after)}"
        shown = {"items": [values_of(self.table, row) for row in page[:PAGE]], "next": address}
        return Response(PAGES[self.table](shown).data)

    def _found(self, query: Mapping[str, Any]) -> QuerySet[DraftEntry]:
        rows = visible(self.table, self.user).order_by("pk")
        if "agency" in query:
            column = "id" if self.table == "agencies" else "agency_id"
            if self.table in OF_NO_AGENCY:
                raise ParseError("These entries belong to no agency: leave agency out.")
            rows = rows.filter(**{column: query["agency"]})
        if words := query.get("q"):
            found = Q()
            for name in SEARCHED:
                if name in COLUMNS[self.table]:
                    found |= Q(**{f"{name}__icontains": words})
            rows = rows.filter(found)
        if after := query.get("after"):
            if self.table != "agencies" and not (after.isascii() and after.isdigit()):
                raise ParseError("There is no such page of the list.")
            rows = rows.filter(pk__gt=after[:18] if self.table != "agencies" else after)
        return rows


class OneEntry(StaffView):
    """One entry, addressed by its natural id in the query."""

    table: ClassVar[Table]
    parser_classes = [EntryParser]
    http_method_names = ["get", "head", "put", "delete"]

    def get(self, request: Request) -> Response:
        """Read an entry."""
        row = self._find(request)
        return self._shown(row, 200)

    def put(self, request: Request) -> Response:
        """Add an entry (``If-None-Match: *``) or change the one that was seen (``If-Match``)."""
        identity = self._identity(request)
        adding = request.headers.get("If-None-Match", "").strip() == ADD_ONLY
        if not adding:
            seen_version(request)
        for name, value in identity.items():
            if cast("dict[str, Any]", request.data).get(name, value) != value:
                raise ValidationError({name: ["It differs from the address. Leave it out."]})
        body = ENTRIES[self.table](data=request.data)
        body.is_valid(raise_exception=True)
        values = {**body.validated_data, **identity}
        try:
            row = editing.save(
                table=self.table,
                values=values,
                by=self.user,
                seen=None if adding else seen_version(request),
                source=Change.Source.API,
            )
        except Invalid as invalid:
            if adding and self._there(identity):
                raise Changed from invalid
            raise NotThis(invalid.problems) from invalid
        except Stale as stale:
            if not self._there(identity):
                raise Http404 from stale
            raise Changed(stale.message) from stale
        except OutOfScope as error:
            raise PermissionDenied(str(error)) from error
        return self._shown(row, 201 if adding else 200)

    def delete(self, request: Request) -> Response:
        """Remove the entry that was seen."""
        identity = self._identity(request)
        seen = seen_version(request)
        self._find(request)
        try:
            editing.remove(
                table=self.table,
                identity=identity,
                by=self.user,
                seen=seen,
                source=Change.Source.API,
            )
        except Invalid as invalid:
            raise NotThis(invalid.problems) from invalid
        except Stale as stale:
            raise Changed(stale.message) from stale
        except OutOfScope as error:
            raise PermissionDenied(str(error)) from error
        return Response(status=204)

    def _identity(self, request: Request) -> dict[str, str]:
        query = ADDRESSES[self.table](data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        return {name: query.validated_data.get(name, "") for name in IDENTITY[self.table]}

    def _there(self, identity: Mapping[str, str]) -> bool:
        return visible(self.table, self.user).filter(**columns(identity)).exists()

    def _find(self, request: Request) -> DraftEntry:
        try:
            return visible(self.table, self.user).get(**columns(self._identity(request)))
        except ObjectDoesNotExist as error:
            raise Http404 from error

    def _shown(self, row: DraftEntry, status: int) -> Response:
        shown = ENTRIES[self.table](values_of(self.table, row)).data
        return Response(shown, status=status, headers={"ETag": etag(row.version)})


def visible(table: Table, user: Any) -> QuerySet[DraftEntry]:
    """Return the entries of ``table`` that ``user`` may see: of their agencies, and of none."""
    rows: QuerySet[DraftEntry] = DRAFT_MODELS[table]._default_manager.all()
    agencies = agencies_of(user)
    if agencies is None or table in OF_NO_AGENCY:
        return rows
    return rows.filter(**{f"{'id' if table == 'agencies' else 'agency_id'}__in": agencies})


def columns(identity: Mapping[str, str]) -> dict[str, str]:
    """Return a natural id as the columns of the database."""
    return {"agency_id" if name == "agency" else name: value for name, value in identity.items()}


def values_of(table: Table, row: DraftEntry) -> dict[str, Any]:
    """Return an entry as a bundle has it, and its version."""
    values = {n: getattr(row, "agency_id" if n == "agency" else n) for n in COLUMNS[table]}
    return {**values, "version": row.version}


def views_of(table: Table) -> tuple[type[Entries], type[OneEntry]]:
    """Return the two resources of a table: its list, and one entry."""
    listed = type(f"{table.title()}List", (Entries,), {"table": table})
    entry = type(f"{table.title()}Entry", (OneEntry,), {"table": table})
    return schema.entries(table)(listed), schema.entry(table)(entry)


VIEWS: Mapping[Table, tuple[type[Entries], type[OneEntry]]] = {t: views_of(t) for t in TABLES}

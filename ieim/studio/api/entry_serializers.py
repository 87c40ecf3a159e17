"""What the editors' resources take and give of the draft: entries as a bundle has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.api.serializers import ClosedSerializer, ExactTextField
from ieim.knowledge.bundles.columns import COLUMNS, EXAMPLE_LIMIT, ID_LIMIT
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table

LISTS = frozenset({"keywords", "categories", "requirements", "how_to_apply"})
NUMBERS = frozenset({"threshold"})
# The parser takes no NUL anywhere, so that is part of the shape.
_TEXT = {"type": "string", "pattern": r"^[^\u0000]*$"}


@extend_schema_field(_TEXT)
class TextField(ExactTextField):
    """A text of the knowledge; what it may hold is the rules' to say (422)."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return ``data``; a blank text is one like any other."""
        return "" if data == "" else super().run_validation(data)


def _column(name: str) -> serializers.Field[Any, Any, Any, Any]:
    if name in LISTS:
        return serializers.ListField(child=TextField(), required=False)
    if name in NUMBERS:
        return serializers.DecimalField(
            max_digits=3,
            decimal_places=2,
            min_value=0,
            max_value=1,
            required=False,
            allow_null=True,
        )
    return TextField(required=False)


def _entry(table: Table) -> type[ClosedSerializer]:
    """Return the serializer of an entry: its columns, without those that address it, and more.

    A body has the columns alone; what is left out stays as it is, or blank in a new entry.
    """
    fields: dict[str, Any] = {name: _column(name) for name in COLUMNS[table]}
    for name in IDENTITY[table]:
        fields[name] = serializers.CharField(read_only=True)
    fields["version"] = serializers.IntegerField(read_only=True, help_text="What the ETag says.")
    name = f"{_one(table)}EntrySerializer"
    return type(name, (ClosedSerializer,), {**fields, "__doc__": f"One entry of {table}."})


def _one(table: Table) -> str:
    names = {"agencies": "Agency", "dictionary": "Dictionary", "services": "Service"}
    return names.get(table, table.removesuffix("s").title().replace("_", ""))


def _page(table: Table) -> type[serializers.Serializer[Any]]:
    fields = {
        "items": ENTRIES[table](many=True),
        "next": serializers.CharField(allow_null=True, help_text="Where the next page is."),
        "__doc__": f"A page of {table}.",
    }
    return type(f"{_one(table)}PageSerializer", (serializers.Serializer,), fields)


def _address(table: Table) -> type[ClosedSerializer]:
    """Return the serializer of an entry's address: the columns of its natural id."""
    fields: dict[str, Any] = {}
    for name in IDENTITY[table]:
        required = COLUMNS[table][name].required
        fields[name] = serializers.RegexField(
            r"^[^\x00]+$", required=required, max_length=EXAMPLE_LIMIT, trim_whitespace=False
        )
    return type(f"{_one(table)}AddressSerializer", (ClosedSerializer,), fields)


ENTRIES: Mapping[Table, type[ClosedSerializer]] = {table: _entry(table) for table in TABLES}
PAGES: Mapping[Table, type[serializers.Serializer[Any]]] = {t: _page(t) for t in TABLES}
ADDRESSES: Mapping[Table, type[ClosedSerializer]] = {table: _address(table) for table in TABLES}


class ListQuerySerializer(ClosedSerializer):
    """The address of a list."""

    agency = serializers.RegexField(
        r"^[^\x00]+$", required=False, max_length=ID_LIMIT, trim_whitespace=False
    )
    q = serializers.RegexField(
        r"^[^\x00]+$", required=False, max_length=200, help_text="Words in its id or its name."
    )
    after = serializers.RegexField(
        r"^[^\x00]+$", required=False, max_length=ID_LIMIT, help_text="As `next` has it."
    )

"""Addresses of the pages on which entries are edited, by the natural id of the entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from django.contrib.admin.utils import quote, unquote
from django.urls import reverse

from ieim.knowledge.bundles.rows import IDENTITY, Table

NAMES: Final[dict[Table, str]] = {
    "agencies": "agency",
    "dictionary": "category",
    "services": "service",
    "situations": "situation",
}
"""The tables that have such pages, and what their entries are called in an address."""


class IdConverter:
    """An id as one part of a path: what would divide the path is written as in the admin."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return unquote(value)

    def to_url(self, value: str) -> str:
        return str(quote(value))


def edit_url(table: Table, identity: Sequence[str]) -> str:
    """Return the address of an entry's page; "" for a table whose entries have none."""
    if table == "translations":
        columns = zip(IDENTITY[table], identity, strict=True)
        query = urlencode({name: value for name, value in columns if value})
        return f"{reverse('editor:translation')}?{query}"
    if table not in NAMES or not all(identity):
        return ""
    return reverse(f"editor:{NAMES[table]}", args=identity)

"""The list that somebody came from: carried along, so that the next item is of the same one."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from review.queue.searching import Filters, UnknownFilter

FIELD = "list"
"""The form field and the parameter; its value is the list's query string."""


def carried(request: HttpRequest) -> Filters:
    """Return the list that a request carries; what cannot be read is the usual list."""
    given = request.POST if request.method == "POST" else request.GET
    try:
        return Filters.parse(QueryDict(given.get(FIELD, "")).dict())
    except UnknownFilter:
        return Filters()


def carrying(filters: Filters) -> str:
    """Return the query string that carries a list; empty for the usual one."""
    return urlencode({FIELD: filters.query}) if filters.query else ""


def item_address(pk: object, filters: Filters) -> str:
    """Return the address of an item that a list led to."""
    return "?".join(filter(None, (reverse("review:item", args=[pk]), carrying(filters))))


def queue_address(filters: Filters) -> str:
    """Return the address of a list."""
    return "?".join(filter(None, (reverse("review:queue"), filters.query)))

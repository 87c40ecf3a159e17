"""The queue's filters: read from an address, and applied to items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext

from conversations.models import Session
from review import scope
from review.models import ItemFlag, ReviewItem
from review.queue import fulltext

TABS = ("open", "mine", "second", "done")
AGES: Mapping[str, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "3-days": timedelta(days=3),
    "week": timedelta(days=7),
}
LONGEST = 200
"""Characters of one filter; an address must stay one that can be saved."""
LONGEST_SEARCH = 100

FEW = 20_000
"""So many matching messages are looked up, in some hundredths of a second; of more, the queue is
walked in its order: they may all be at its end, but are too many for that to be likely."""


class BadAddress(ValueError):
    """Filters that cannot be used; the message says what to do, ``field`` where."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Filters:
    """The queue's address as values; empty ones do not filter.

    ``flag`` is a risk flag's code, ``age`` a key of :data:`AGES`, ``overdue`` is "" or "1". With
    ``held`` ("" or "1") *Open* also has what colleagues work on.
    """

    tab: str = TABS[0]
    q: str = ""
    agency: str = ""
    stage: str = ""
    reason: str = ""
    urgency: str = ""
    flag: str = ""
    language: str = ""
    age: str = ""
    overdue: str = ""
    held: str = ""

    @classmethod
    def parse(cls, params: Mapping[str, str]) -> Filters:
        """Read an address; raises :class:`BadAddress`."""
        given = {each.name: params.get(each.name, "").strip() for each in fields(cls)}
        if any(len(value) > LONGEST for value in given.values()):
            raise BadAddress(
                gettext("A filter in this address is too long. Choose from the lists.")
            )
        if any(not value.isprintable() for value in given.values()):
            raise BadAddress(
                gettext("A filter in this address cannot be read. Choose from the lists.")
            )
        if len(given["q"]) > LONGEST_SEARCH:
            message = gettext("Search for at most {number} characters.")
            raise BadAddress(message.format(number=LONGEST_SEARCH))
        if given["tab"] not in ("", *TABS):
            raise BadAddress(gettext("There is no such list. Choose one of those at the top."))
        if given["age"] not in ("", *AGES):
            raise BadAddress(gettext("There is no such age. Choose one from the list."))
        if given["overdue"] not in ("", "1") or given["held"] not in ("", "1"):
            raise BadAddress(gettext("A box is ticked or it is not. Tick it or leave it empty."))
        return cls(**{**given, "tab": given["tab"] or TABS[0]})

    @property
    def query(self) -> str:
        """The address's query string: the same for the same filters."""
        return urlencode({name: value for name, value in self._set() if value})

    def with_changes(self, **changed: str) -> str:
        """Return the query string with some filters changed."""
        return replace(self, **changed).query

    @property
    def narrows(self) -> int:
        """How many filters are on, without list and search."""
        return sum(bool(value) for name, value in self._set() if name not in ("tab", "q"))

    def _set(self) -> list[tuple[str, str]]:
        return [each for each in asdict(self).items() if each != ("tab", TABS[0])]


_REFERENCE = re.compile(r"([0-9A-Z]{3})[-\s\u2010-\u2015]?([0-9A-Z]{4})")


def session_of(typed: str) -> Session | None:
    """Return the conversation whose reference was typed (``K7M-4QX9``), None where it is none.

    However it is written: with a hyphen, a space or neither, in any case.
    """
    parts = _REFERENCE.fullmatch(typed.strip().upper())
    if parts is None:
        return None
    return Session.objects.filter(reference=f"{parts[1]}-{parts[2]}").first()


def condition(filters: Filters, now: datetime) -> Q:
    """Return the filters as a condition on items, without list and search.

    An agency costs one query of its own: it leads to the sets that the agency is in.
    """
    matching = Q()
    if filters.agency:
        matching &= Q(agencies__in=scope.sets_with([filters.agency]))
    for name in ("stage", "reason", "urgency", "language"):
        if value := getattr(filters, name):
            matching &= Q(**{name: value})
    if filters.flag:
        matching &= Q(Exists(ItemFlag.objects.filter(item=OuterRef("pk"), code=filters.flag)))
    if filters.age:
        matching &= Q(opened_at__lt=now - AGES[filters.age])
    if filters.overdue:
        matching &= Q(due_at__lt=now)
    return matching


def found(items: QuerySet[ReviewItem], typed: str) -> QuerySet[ReviewItem]:
    """Return the items in whose message every word that was typed occurs, or begins a word.

    Costs one query of its own: a rare word leads to its items, a common one is met soon on the way
    through the queue.
    """
    if not typed:
        return items
    query = fulltext.query_of(typed)
    if not query:
        return items.none()
    few = fulltext.count(query, FEW + 1) <= FEW
    return fulltext.among(items, query) if few else fulltext.walk(items, query)


FIELD = "list"
"""The form field and the parameter; its value is the list's query string."""


def list_filters(request: HttpRequest) -> Filters:
    """Return the list filters of a request; the default ones where they cannot be read."""
    given = request.POST if request.method == "POST" else request.GET
    try:
        return Filters.parse(QueryDict(given.get(FIELD, "")).dict())
    except BadAddress:
        return Filters()


def list_query(filters: Filters) -> str:
    """Return the query string for a list's filters; empty for the default ones."""
    return urlencode({FIELD: filters.query}) if filters.query else ""


def item_address(pk: object, filters: Filters) -> str:
    """Return the address of an item that a list led to."""
    return "?".join(filter(None, (reverse("review:item", args=[pk]), list_query(filters))))


def queue_address(filters: Filters) -> str:
    """Return the address of a list."""
    return "?".join(filter(None, (reverse("review:queue"), filters.query)))

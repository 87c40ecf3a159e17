"""Filters of the queue: of its page, of REST and of saved views; and addresses that carry them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeAlias
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django_filters import CharFilter, ChoiceFilter, FilterSet

from conversations.models import Session, Turn
from review import scope
from review.models import REFUSED, TAKEN_BACK, Decision, ItemFlag, ReviewItem
from review.queue import fulltext
from review.states import ReviewState

Items: TypeAlias = QuerySet[ReviewItem]
TABS = ("open", "mine", "second", "triage", "done")
AGES: Mapping[str, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "3-days": timedelta(days=3),
    "week": timedelta(days=7),
}
SOON = timedelta(hours=2)
NO_AGENCY = "none"
"""In place of an agency's id: no agency yet."""
MAX_LENGTH = 200
"""Characters of one filter; an address must stay one that can be saved."""
MAX_SEARCH_LENGTH = 100
FEW = 2_000
"""So many matching messages are looked up, however long the history is; of more, the queue is
walked in its order: they may all be at its end, but are too many for that to be likely."""


class BadAddress(ValueError):
    """Filters that cannot be used; the message says what to do, ``field`` where."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


UNREADABLE = _("A filter in this address cannot be read. Choose from the lists.")
TOO_LONG = _("A filter in this address is too long. Choose from the lists.")
LONG_SEARCH = format_lazy(_("Search for at most {number} characters."), number=MAX_SEARCH_LENGTH)
NO_LIST = _("There is no such list. Choose one of those at the top.")
NO_AGE = _("There is no such age. Choose one from the list.")
NO_TICK = _("A box is ticked or it is not. Tick it or leave it empty.")
SEARCH = (
    "Words that the message has, or their begin; or a conversation's reference, which finds its "
    "items in every list, whatever else is asked for."
)


def _printable(value: str) -> None:
    if not value.isprintable():
        raise ValidationError(UNREADABLE)


def _text(
    help_text: str, *, method: str | None = None, length: int = MAX_LENGTH, too_long: Any = TOO_LONG
) -> CharFilter:
    return CharFilter(
        help_text=help_text,
        method=method,
        max_length=length,
        validators=[_printable],
        error_messages={"max_length": too_long, "null_characters_not_allowed": UNREADABLE},
    )


def _choice(values: Iterable[str], invalid: Any, help_text: str, method: str) -> ChoiceFilter:
    return ChoiceFilter(
        choices=[(value, value) for value in values],
        error_messages={"invalid_choice": invalid},
        help_text=help_text,
        method=method,
    )


class ItemFilter(FilterSet):
    """A list of the queue (``tab``) and its filters; an empty one does not filter.

    With ``held`` *Open* also has what colleagues work on, with ``single`` no row is of several
    items. Lists are made, and references looked up,
    by :func:`review.queue.selectors.listing`. The help texts are those of the REST parameters.
    """

    tab = _choice(TABS, NO_LIST, "Which list; `open` when left out.", "all_items")
    q = _text(SEARCH, method="with_words", length=MAX_SEARCH_LENGTH, too_long=LONG_SEARCH)
    agency = _text("An agency's id; `none` for no agency yet.", method="of_agency")
    stage = _text("A contract's id, `reply` or `person`.")
    reason = _text("A finding's code: the first of the item's reasons.")
    urgency = _text("A label's code.")
    flag = _text("A risk flag's code.", method="with_flag")
    language = _text("ISO 639-1.")
    age = _choice(AGES, NO_AGE, "Open for longer than this.", "older_than")
    overdue = _choice("1", NO_TICK, "Only what should have been decided by now.", "late")
    snoozed = _choice("1", NO_TICK, "Only what is put away until a time.", "put_away")
    soon = _choice("1", NO_TICK, "Only what is due within two hours.", "due_soon")
    person = _text("A user name: who has it now; in `done`, who decided on it.", method="of_person")
    held = _choice("1", NO_TICK, "In `open` also what colleagues work on.", "all_items")

    alike = _text("The `alike` of items: those that failed alike.", length=255)
    single = _choice("1", NO_TICK, "On the page: alike items one by one.", "all_items")

    class Meta:
        model = ReviewItem
        fields: list[str] = []

    def __init__(self, params: Mapping[str, str] | None = None) -> None:
        super().__init__(params or {})

    @classmethod
    def parse(cls, params: Mapping[str, str]) -> ItemFilter:
        """Return the filters of an address.

        Raises:
            BadAddress: for values that no list or field offers.
        """
        filters = cls(params)
        for messages in filters.errors.values():
            raise BadAddress(str(messages[0]))
        return filters

    @property
    def values(self) -> dict[str, str]:
        """The filters by name, empty ones included; ``tab`` is never empty."""
        cleaned = self.form.cleaned_data if self.is_valid() else {}
        return {**cleaned, "tab": cleaned.get("tab") or TABS[0]}

    @property
    def query(self) -> str:
        """The query string: the same for the same filters."""
        return self.with_changes()

    def with_changes(self, **changes: str) -> str:
        """Return the query string with some filters changed."""
        values = {**self.values, **changes}
        if values["tab"] == TABS[0]:
            del values["tab"]
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def narrows(self) -> int:
        """How many filters are on, without list, search and group."""
        return sum(
            bool(value) for name, value in self.values.items() if name not in ("tab", "q", "alike")
        )

    def all_items(self, items: Items, name: str, value: str) -> Items:
        """Return all items: which list it is, and what colleagues have, is not of one item."""
        return items

    def with_words(self, items: Items, name: str, typed: str) -> Items:
        """Return the items in whose message every word that was typed occurs, or begins a word.

        Costs one query of its own: a rare word leads to its items, a common one is met soon on the
        way through the queue.
        """
        query = fulltext.query_of(typed)
        if not query:
            return items.none()
        ids = fulltext.item_ids(query, FEW + 1)
        return items.filter(pk__in=ids) if len(ids) <= FEW else fulltext.walk(items, query)

    def of_agency(self, items: Items, name: str, agency: str) -> Items:
        """Return the items of an agency; costs one query of its own, for the agency's sets."""
        if agency == NO_AGENCY:
            return items.filter(agencies=None)
        return items.filter(agencies__in=scope.sets_with([agency]))

    def with_flag(self, items: Items, name: str, code: str) -> Items:
        """Return the items with a risk flag."""
        return items.filter(Exists(ItemFlag.objects.filter(item=OuterRef("pk"), code=code)))

    def older_than(self, items: Items, name: str, age: str) -> Items:
        """Return the items that were opened longer ago than an age."""
        return items.filter(opened_at__lt=timezone.now() - AGES[age])

    def put_away(self, items: Items, name: str, value: str) -> Items:
        """Return the items that are put away."""
        return items.filter(is_away(timezone.now()))

    def late(self, items: Items, name: str, value: str) -> Items:
        """Return the items that should have been decided by now."""
        return items.filter(due_at__lt=timezone.now())

    def due_soon(self, items: Items, name: str, value: str) -> Items:
        """Return the items that are to be decided within :data:`SOON`."""
        now = timezone.now()
        return items.filter(due_at__gte=now, due_at__lt=now + SOON)

    def of_person(self, items: Items, name: str, username: str) -> Items:
        """Return the items that somebody holds, or with *Done* those that they decided on."""
        if self.data.get("tab") == "done":
            decisions = Decision.objects.filter(item=OuterRef("pk"), actor__username=username)
            return items.filter(Exists(decisions.exclude(TAKEN_BACK)))
        return items.filter(held_by(Q(claimed_by__username=username), timezone.now()))


def held_by(who: Q, now: datetime) -> Q:
    """Return the condition on items that somebody holds now."""
    return who & Q(state=ReviewState.CLAIMED, claimed_until__gt=now)


def is_away(now: datetime) -> Q:
    """Return the condition on items that are put away: not what shows danger meanwhile, nor what
    its citizen has written about since."""
    later = Turn.objects.filter(
        session=OuterRef("turn__session"), created_at__gt=OuterRef("snoozed_at")
    )
    return Q(~Exists(later), snoozed_until__gt=now, rank__gt=REFUSED)


_REFERENCE = re.compile(r"([0-9A-Z]{3})[-\s\u2010-\u2015]?([0-9A-Z]{4})")


def session_of(typed: str) -> Session | None:
    """Return the conversation of a reference (``K7M-4QX9``), None for anything else.

    It may be typed with a hyphen, a space or neither, in any case.
    """
    parts = _REFERENCE.fullmatch(typed.strip().upper())
    if parts is None:
        return None
    return Session.objects.filter(reference=f"{parts[1]}-{parts[2]}").first()


FIELD = "list"
"""The form field and the parameter; its value is the list's query string."""


def list_filters(request: HttpRequest) -> ItemFilter:
    """Return the list filters of a request; the default ones where they cannot be read."""
    params = request.POST if request.method == "POST" else request.GET
    try:
        return ItemFilter.parse(QueryDict(params.get(FIELD, "")).dict())
    except BadAddress:
        return ItemFilter()


def list_query(filters: ItemFilter) -> str:
    """Return the query string for a list's filters; empty for the default ones."""
    return urlencode({FIELD: filters.query}) if filters.query else ""


def item_address(pk: object, filters: ItemFilter) -> str:
    """Return the address of an item that a list led to."""
    return "?".join(filter(None, (reverse("review:item", args=[pk]), list_query(filters))))


def queue_address(filters: ItemFilter) -> str:
    """Return the address of a list."""
    return "?".join(filter(None, (reverse("review:queue"), filters.query)))

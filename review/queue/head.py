"""What stands over the queue's rows: the lists, the page's title, a conversation that was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop, ngettext

from ieim.people.models import User
from review.item.sections.wording import TURNS
from review.queue import selectors
from review.queue.searching import Filters
from review.queue.selectors import Conversation, Count
from review.states import ReviewState

TABS: Mapping[str, str] = {
    "open": gettext_noop("Open"),
    "mine": gettext_noop("Mine"),
    "second": gettext_noop("Waiting for a second opinion"),
    "done": gettext_noop("Done"),
}
NOTHING: Mapping[str, str] = {
    "open": gettext_noop(
        "Nothing is waiting. New items appear here when the assistant cannot answer safely by"
        " itself."
    ),
    "mine": gettext_noop("You have claimed nothing. Choose something from the open items."),
    "second": gettext_noop("No decision waits for a second opinion."),
    "done": gettext_noop("Nothing has been decided yet."),
}
LISTED: Mapping[str, str] = {
    ReviewState.OPEN: "open",
    ReviewState.CLAIMED: "open",
    ReviewState.SECOND_OPINION: "second",
    ReviewState.DECIDED: "done",
}
"""The list that an item of a state is in, whoever has it."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One list; ``count`` and ``crisis`` are empty where there is nothing to count."""

    words: str
    count: str
    number: int
    crisis: str
    query: str
    current: bool


def tabs(
    filters: Filters, counts: Mapping[str, Count], *, by_reference: bool = False
) -> tuple[Tab, ...]:
    """Return the lists with their numbers, the filters kept.

    A conversation that was found ``by_reference`` is in none of them.
    """
    return tuple(
        Tab(
            words=gettext(name),
            count=_capped(counts[tab].items) if tab in counts else "",
            number=counts[tab].items if tab in counts else 0,
            crisis=in_crisis(len(counts[tab].crises)) if tab in counts else "",
            query=filters.but(tab=tab, q="") if by_reference else filters.but(tab=tab),
            current=tab == filters.tab and not by_reference,
        )
        for tab, name in TABS.items()
    )


def in_crisis(number: int) -> str:
    """Return how many items are in crisis, in words; empty for none."""
    return gettext("{number} in crisis").format(number=_capped(number)) if number else ""


def title(filters: Filters, crises: int, reference: str) -> str:
    """Return the page's title: a crisis is seen even where the page is one tab among many.

    ``reference`` is that of the conversation that was searched for, empty otherwise.
    """
    name = reference or gettext(TABS[filters.tab])
    return f"({in_crisis(crises)}) {name}" if crises else name


def nothing(filters: Filters, found: Conversation | None) -> str:
    """Return what an empty list says."""
    if found is not None:
        told = found.elsewhere or not found.state
        return "" if told else gettext("None of its messages has come to a person.")
    if filters.q or filters.narrows:
        return gettext("Nothing fits this search and these filters.")
    return gettext(NOTHING[filters.tab])


def conversation(found: Conversation) -> str:
    """Return where a conversation stands, in a sentence."""
    began = date_format(timezone.localtime(found.started_at), "j F Y")
    if found.elsewhere:
        said = gettext("The conversation {reference} is with another agency.")
        return said.format(reference=found.reference)
    if not found.state:
        said = gettext("The conversation {reference} began on {day} and was erased.")
        return said.format(reference=found.reference, day=began)
    said = ngettext(
        "The conversation {reference} began on {day} and has {number} message."
        " Its last one: {state}.",
        "The conversation {reference} began on {day} and has {number} messages."
        " Its last one: {state}.",
        found.messages,
    )
    return said.format(
        reference=found.reference,
        day=began,
        number=found.messages,
        state=gettext(TURNS[found.state]).lower(),
    )


def recorded(user: User, found: Conversation) -> str:
    """Return the address of what is recorded of a conversation, empty for who may not read it."""
    if not user.has_perm("audit.view_auditevent"):
        return ""
    return f"{reverse('admin:audit_auditevent_changelist')}?{urlencode({'q': found.reference})}"


def _capped(count: int) -> str:
    return f"{selectors.COUNTED - 1}+" if count >= selectors.COUNTED else str(count)

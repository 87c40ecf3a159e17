"""What the administration has set, for every template: ``{% administration as own %}``."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.dates import WEEKDAYS

from ieim.administration import languages, selectors
from ieim.administration.hours import Closed, Status, clock
from ieim.administration.own import Administration, Text

register = template.Library()

PREVIEWED = "previewed_administration"
"""The name in a context of settings that are looked at and not saved."""


@register.simple_tag(takes_context=True)
def administration(context: Context) -> Administration:
    """Return what is set now, or what is previewed; all of a page is of one moment."""
    known = context.get(PREVIEWED) or context.get("own")
    return known if isinstance(known, Administration) else selectors.current()


@register.simple_tag(takes_context=True)
def legal_texts(context: Context) -> dict[str, Text]:
    """Return the legal texts by name, in the language of the page where they are in it."""
    return administration(context).legal(languages.of_page())


@register.filter
def week(own: Administration) -> list[tuple[str, str, str]]:
    """Return ``(first day, last day, hours)`` of days beside each other that are alike.

    The last day is empty where it is the first; the hours are, where it is closed.
    """
    rows: list[tuple[int, int, str]] = []
    for day, spans in enumerate(own.hours.days):
        said = ", ".join(f"{clock(opens)}–{clock(closes)}" for opens, closes in spans)
        if rows and rows[-1][2] == said:
            rows[-1] = (rows[-1][0], day, said)
        else:
            rows.append((day, day, said))
    return [
        (str(WEEKDAYS[first]), str(WEEKDAYS[last]) if last != first else "", said)
        for first, last, said in rows
    ]


@register.filter
def opening(own: Administration) -> Status | None:
    """Return whether it is open now, and until when."""
    return own.status(timezone.now())


@register.filter
def closed_days(own: Administration) -> Sequence[Closed]:
    """Return the days on which it is closed besides, from today on."""
    return own.closed_from(timezone.now())

"""The organisation settings in every template: ``{% administration as organisation %}``."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.dates import WEEKDAYS

from ieim.administration import languages, selectors
from ieim.administration.hours import Closed, Status, clock
from ieim.administration.organisation import Administration, Text

register = template.Library()

PREVIEWED = "previewed_administration"
"""The name in a context of settings that are previewed and not saved."""


@register.simple_tag(takes_context=True)
def administration(context: Context) -> Administration:
    """Return what is set now, or what is previewed; all of a page is of one moment."""
    settings = context.get(PREVIEWED) or context.get("organisation")
    return settings if isinstance(settings, Administration) else selectors.current()


@register.simple_tag(takes_context=True)
def legal_texts(context: Context) -> dict[str, Text]:
    """Return the legal texts by name, in the language of the page where there are some."""
    return administration(context).legal(languages.of_page())


@register.filter
def week(organisation: Administration) -> list[tuple[str, str, str]]:
    """Return ``(first day, last day, hours)``, adjacent days with the same hours as one.

    The last day is empty for a single day; the hours are empty for closed days.
    """
    rows: list[tuple[int, int, str]] = []
    for day, spans in enumerate(organisation.hours.days):
        hours = ", ".join(f"{clock(opens)}–{clock(closes)}" for opens, closes in spans)
        first = rows.pop()[0] if rows and rows[-1][2] == hours else day
        rows.append((first, day, hours))
    return [
        (str(WEEKDAYS[first]), str(WEEKDAYS[last]) if last != first else "", hours)
        for first, last, hours in rows
    ]


@register.filter
def opening(organisation: Administration) -> Status | None:
    """Return whether it is open now, and until when."""
    return organisation.status(timezone.now())


@register.filter
def closed_days(organisation: Administration) -> Sequence[Closed]:
    """Return the extra closed days from today on."""
    return organisation.closed_from(timezone.now())

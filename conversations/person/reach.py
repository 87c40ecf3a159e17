"""How the administration is reached, and when, in words for a citizen."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from babel.dates import format_date, format_time
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from conversations import page_languages, selectors
from conversations.chat.wording import Words
from conversations.models import Turn
from conversations.person import hours
from ieim.administration import selectors as administration
from ieim.knowledge import wording
from ieim.pipeline.gate.grounding import named
from ieim.pipeline.gate.subject import about_before
from ieim.pipeline.knowledge import Agency, Release
from ieim.pipeline.structured import Span, exceptions, read_opening, week

MOST_AGENCIES = 3
"""Where a message is about no agency, the hours of so many at most are listed."""


def contacts(words: Words, turn: Turn, release: Release) -> str:
    """Return telephone, addresses and opening hours as paragraphs, as far as they are set: those of
    the administration, and of the agencies that the message names or the talk is about."""
    office = administration.current()
    with translation.override(words.code):
        fields = {
            _("Telephone"): office.telephone,
            _("E-mail"): office.email,
            _("Address"): ", ".join(office.address.splitlines()),
            _("Web page"): office.website,
        }
    lines = [f"{label}: {value}" for label, value in fields.items() if value]
    lines += opening_hours(words) if office.hours else ()
    for agency in _agencies(turn, release):
        lines += _hours_of(agency, words)
    return "\n\n".join(lines)


def opening_hours(words: Words) -> list[str]:
    """Return when people are there, and on which days of the next two weeks they are not."""
    opening = hours.opening(timezone.now())
    if opening is None:
        return []
    locale = page_languages.locale(words.language)
    with translation.override(words.code):
        week = wording.weekly(opening.week, locale)
        closed = (
            wording.closed_on(format_date(day, format="full", locale=locale), why)
            for day, why in opening.closed
        )
        return [*(wording.open_on(days, span, locale) for days, span in week), *closed]


def _agencies(turn: Turn, release: Release) -> list[Agency]:
    """Return the agencies with hours of their own that a message asks about."""
    with_hours = {id_: agency for id_, agency in release.agencies.items() if agency.hours}
    names = named(turn.text, release).agencies if with_hours else ()
    asked = {bearer for name in names for bearer in name.bearers}
    if with_hours and not asked and (before := about_before(selectors.history(turn))):
        asked = {before[0]}
    if not asked and len(with_hours) <= MOST_AGENCIES:
        return list(with_hours.values())
    return [agency for id_, agency in with_hours.items() if id_ in asked]


def _hours_of(agency: Agency, words: Words) -> list[str]:
    """Return whether an agency is open now, and its hours."""
    office, now = hours.calendar(), timezone.now()
    special: dict[date, tuple[Span, ...]] = {}
    for opening in exceptions(agency.hours):
        for days in range((opening.last - opening.first).days + 1):
            day, spans = opening.first + timedelta(days), (opening.span,) if opening.span else ()
            special[day] = tuple(sorted((*special.get(day, ()), *spans)))
    own = replace(office, days=week(agency.hours), special=special)
    status = own.status(now)
    locale = page_languages.locale(words.language)
    with translation.override(words.code):
        if status.until is None:
            state = _("Closed for now")
        else:
            until = status.until.astimezone(office.zone)
            values = {
                "time": format_time(until.time(), format="short", locale=locale),
                "day": format_date(until, format="EEEE", locale=locale),
                "date": format_date(until, format="long", locale=locale),
            }
            is_open = _("Open now, until %(time)s")
            closed = _("Closed now. Opens on %(day)s, %(date)s, at %(time)s")
            state = (is_open if status.open else closed) % values
        openings = [(text, read_opening(text)) for text in agency.hours]
        today = now.astimezone(office.zone).date()
        coming = [text for text, line in openings if line.weekdays or line.last >= today]
        return [f"{agency.name}: {state}", *wording.opening_hours(coming, words.language)]

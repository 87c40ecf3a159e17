"""How the administration is reached, and when, in words for a citizen."""

from __future__ import annotations

from collections.abc import Iterator

from babel.dates import format_date, format_time
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import page_languages
from conversations.chat.wording import Words
from conversations.person import hours
from ieim.administration import selectors as administration


def contacts(words: Words) -> str:
    """Return telephone, addresses and opening hours as paragraphs, as far as they are set."""
    office = administration.current()
    with translation.override(words.code):
        fields = {
            _("Telephone"): office.telephone,
            _("E-mail"): office.email,
            _("Address"): ", ".join(office.address.splitlines()),
            _("Web page"): office.website,
        }
    lines = [f"{label}: {value}" for label, value in fields.items() if value]
    return "\n\n".join([*lines, *(opening_hours(words) if office.hours else ())])


def opening_hours(words: Words) -> Iterator[str]:
    """Yield when people are there, and on which days of the next two weeks they are not."""
    opening = hours.opening(timezone.now())
    if opening is None:
        return
    locale = page_languages.locale(words.language)
    with translation.override(words.code):
        week = list(opening.hours)
    for days, opens, closes in week:
        times = (format_time(time, format="short", locale=locale) for time in (opens, closes))
        yield words.translate(
            gettext_lazy("Open: {days}, {times}"), days=days, times="–".join(times)
        )
    for day, why in opening.closed:
        closed = format_date(day, format="full", locale=locale)
        if why:
            yield words.translate(gettext_lazy("Closed on {day} ({why})."), day=closed, why=why)
        else:
            yield words.translate(gettext_lazy("Closed on {day}."), day=closed)

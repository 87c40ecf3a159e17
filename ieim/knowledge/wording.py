"""Sentences of structured values, in the reader's language: what something costs, how long it
takes, where it is and when it is open.

A text that an editor wrote comes first. A sentence stands where there is no text, or none in the
reader's language, or before one that does not say it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import time
from itertools import groupby
from typing import Any

from babel import Locale
from babel.dates import format_date, format_time
from babel.numbers import format_currency
from django.apps import apps
from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ieim.pipeline.facts import figures
from ieim.pipeline.knowledge import Agency, Service, Wording
from ieim.pipeline.structured import (
    Span,
    exceptions,
    read_amount,
    read_days,
    read_place,
    week,
)

_SPOKEN = {"tl": "fil"}
"""Codes that detection returns, and what pages call the language."""
_UNSPACED = re.compile(r"(?<=[^\W\d_])(?=\d)")
"""Between a currency's code and its amount, where CLDR has a space and Babel none."""
_CLOCK = re.compile(r"(?<!\d)\d{1,2}\s?[:.hH]\s?[0-5]\d(?!\d)")


def configured() -> Wording | None:
    """Return the wording in the languages that the deployment answers in; None without Django,
    where a bundle is only read or judged by."""
    if not apps.ready:
        return None
    written, *others = settings.IEIM_MODEL["LANGUAGES"]
    return Wording(written, frozenset([written, *others]), fill)


def fill(
    service: Service, agency: Agency, code: str, translated: frozenset[str]
) -> tuple[Service, frozenset[str]]:
    """Return ``service`` with sentences where its texts lack them, and the fields that are in the
    language ``code`` then; see :class:`ieim.pipeline.knowledge.Wording`."""
    is_structured = (
        *(service.amounts, service.processing_days, service.places, service.hours),
        *(agency.places, agency.hours),
    )
    original = settings.IEIM_MODEL["LANGUAGES"][0]
    spoken = code if _page_code(code) else original
    if not any(is_structured) or not _page_code(spoken):
        return service, translated
    # The words in brackets behind an amount are the editor's, in the original language.
    has_notes = any(read_amount(text).purpose for text in service.amounts)
    texts: dict[str, Any] = {}
    in_language: set[str] = set()
    with translation.override(_page_code(spoken)):
        is_readable = code == original or (spoken == code and "contact" in translated)
        contact = _contact(service, agency, spoken, is_readable=is_readable)
        if contact != service.contact:
            texts["contact"] = contact
            in_language |= {"contact"} if not service.contact.strip() and spoken == code else set()
        for field in ("fees", "processing_time"):
            text, is_current = getattr(service, field), code == original or field in translated
            if is_current and figures(text):
                continue
            is_fee = field == "fees"
            sentence = amounts(service.amounts, spoken) if is_fee else days(service.processing_days)
            is_worded = spoken == code and not (has_notes and is_fee)
            if sentence and (not text.strip() or (is_worded and not is_current)):
                texts[field] = sentence
                in_language |= {field} if is_worded else set()
            elif is_current and figures(sentence):
                texts[field] = f"{sentence}. {text}"
    return replace(service, **texts), translated | in_language


def amounts(texts: Sequence[str], code: str) -> str:
    """Return checked amounts as one text in the active language, empty for none."""
    locale = locale_of(code)
    parts = []
    for amount in map(read_amount, texts):
        money = _("Free of charge")
        if amount.value:
            money = format_currency(
                amount.value, amount.currency, locale=locale, decimal_quantization=False
            )
            money = _UNSPACED.sub("\N{NO-BREAK SPACE}", money)
        parts.append(f"{money} ({amount.purpose})" if amount.purpose else money)
    return "; ".join(parts)


def days(text: str) -> str:
    """Return checked days in words of the active language, empty for none."""
    if not text:
        return ""
    value = read_days(text)
    count = str(value.most) if value.least == value.most else f"{value.least}–{value.most}"
    if value.working:
        return ngettext("{days} working day", "{days} working days", value.most).format(days=count)
    return ngettext("{days} day", "{days} days", value.most).format(days=count)


def opening_hours(hours: Sequence[str], code: str) -> Iterator[str]:
    """Yield the hours of a week, and the days that differ, as sentences in the active language."""
    locale = locale_of(code)
    for weekdays, span in weekly(week(hours), locale):
        yield open_on(weekdays, span, locale)
    for opening in exceptions(hours):
        dates = (opening.first, opening.last)
        first, last = (format_date(day, format="full", locale=locale) for day in dates)
        day = first if first == last else _("{first} to {last}").format(first=first, last=last)
        times = opening.span
        yield open_on(day, times, locale) if times else closed_on(day, opening.note)


def weekly(spans: Sequence[Sequence[Span]], locale: Locale) -> Iterator[tuple[str, Span]]:
    """Yield the names of days that are alike, in the active language, with each of their times."""
    names = locale.days["stand-alone"]["wide"]
    for alike, group in groupby(range(7), key=lambda day: spans[day]):
        weekdays = list(group)
        pattern = _("{first} to {last}") if len(weekdays) > 2 else "{first}, {last}"
        pattern = pattern if len(weekdays) > 1 else "{first}"
        for span in alike:
            yield pattern.format(first=names[weekdays[0]], last=names[weekdays[-1]]), span


def open_on(days: str, span: Span, locale: Locale) -> str:
    """Return the sentence that it is open on ``days``, in the active language."""
    clocks = (format_time(time_of(end), format="short", locale=locale) for end in span)
    return _("Open: {days}, {times}").format(days=days, times="–".join(clocks))


def closed_on(day: str, why: str) -> str:
    """Return the sentence that it is closed on ``day``, in the active language."""
    if why:
        return _("Closed on {day} ({why}).").format(day=day, why=why)
    return _("Closed on {day}.").format(day=day)


def time_of(minutes: int) -> time:
    """Return the time of day of so many minutes; midnight at its end is that at its beginning."""
    return time(minutes // 60 % 24, minutes % 60)


def locale_of(code: str) -> Locale:
    """Return the locale data of a language that pages have."""
    return Locale.parse(translation.to_locale(_page_code(code)))


def _contact(service: Service, agency: Agency, code: str, *, is_readable: bool) -> str:
    """Return the contact with places and hours: the agency's only where there is no contact, which
    may be that of an office with hours of its own."""
    text = service.contact
    is_blank = not text.strip()
    if not is_blank and not is_readable:
        return text
    places = service.places or (agency.places if is_blank else ())
    parts = [place for place in places if read_place(place)[1].casefold() not in text.casefold()]
    if not _CLOCK.search(text):
        parts += opening_hours(service.hours or (agency.hours if is_blank else ()), code)
    return "; ".join(filter(None, [text, *(part.rstrip(".。") for part in parts)]))


def _page_code(code: str) -> str:
    """Return the language as pages are in it, empty where they are not."""
    try:
        return translation.get_supported_language_variant(_SPOKEN.get(code, code))
    except LookupError:
        return ""

"""What templates show: what citizens and models wrote, days, telephone numbers, ways back.

Known to every template (settings), so that none has to ask. No character of what citizens and
models wrote turns what stands around it: see :func:`shown`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time

from babel.dates import format_date, format_time
from django import template
from django.conf import settings
from django.template import Context
from django.utils import timezone
from django.utils.html import conditional_escape, escape, format_html
from django.utils.safestring import SafeString, mark_safe

from conversations import page_languages, returning
from conversations.chat.wording import Words
from ieim.administration import selectors
from ieim.administration.templatetags.administration import administration
from ieim.pipeline.facts import facts
from ieim.pipeline.message import screen

register = template.Library()

_SIGNS = {
    ord(control): format_html(
        '<bdi class="sign" dir="ltr" title="{} (U+{})" data-skip><span aria-hidden="true">{}</span>'
        '<span class="govuk-visually-hidden"> [{}] </span></bdi>',
        screen.bidi_name(control),
        f"{ord(control):04X}",
        short,
        screen.bidi_name(control).lower(),
    )
    for control, short in screen.BIDI_CONTROLS.items()
}


@register.filter
def shown(text: object) -> SafeString:
    """Return ``text`` as HTML, escaped, each bidi control in it a sign that can be seen and heard.

    Nothing else is left out or added: a range of code points of the text is one of what is shown.
    """
    return mark_safe(escape(str(text)).translate(_SIGNS))  # noqa: S308  # escaped, then our signs


@register.filter
def spelled(text: object) -> str:
    """Return ``text`` for an attribute, an option or a title, where no element can stand."""
    return screen.spelled(str(text))


@register.filter
def day(day: date | datetime, words: Words) -> str:
    """Return a day, or that of a moment, in the language of ``words``."""
    return words.day(day)


@register.filter
def weekday_and_day(day: date | datetime) -> str:
    """Return a day, or that of a moment, with its weekday, in the language of the page."""
    on = timezone.localtime(day).date() if isinstance(day, datetime) else day
    return format_date(on, format="full", locale=page_languages.locale(page_languages.current()))


@register.filter
def clock(moment: datetime | time) -> str:
    """Return a time of day, or that of a moment, in the language of the page."""
    of_day = timezone.localtime(moment).time() if isinstance(moment, datetime) else moment
    return format_time(
        of_day, format="short", locale=page_languages.locale(page_languages.current())
    )


register.simple_tag(page_languages.of_this_page, name="page_language")
register.simple_tag(returning.mailto)
register.filter(returning.moment)


_NO_BREAK = "\u00a0"
_AFTER_A_COLON = re.compile(r":[ \u00a0]?([0-9]{3,6})(?![0-9]|[.,:/–-][0-9]|[ \u00a0][0-9])")

_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}\b", re.IGNORECASE
)

_WEB = re.compile(r"https?://[!-~]+", re.IGNORECASE)

Link = tuple[int, int, str]
"""Where a link stands in a text, half-open, and its address."""


@register.filter
def reachable(text: str) -> SafeString:
    """Return ``text`` as HTML, escaped, its web and e-mail addresses and telephone numbers links.

    Numbers and web addresses (http and https alone) are those that the gate sees as such
    (:mod:`ieim.pipeline.facts`), each in one line.
    """
    return _linked(text, _links(text))


def _links(text: str) -> list[Link]:
    links = [(f.start, f.end, f.text) for f in facts(text) if _WEB.fullmatch(f.text)]
    for link in (*((*m.span(), f"mailto:{m[0]}") for m in _MAIL.finditer(text)), *_numbers(text)):
        if all(link[1] <= other[0] or other[1] <= link[0] for other in links):
            links.append(link)
    return sorted(links)


@register.filter
def shown_reachable(text: str) -> SafeString:
    """Return ``text`` as :func:`reachable`, and its bidi controls as :func:`shown`."""
    return _linked(text, _links(text), shown)


@register.filter
def emergency_telephones(text: str) -> SafeString:
    """Return ``text`` with its telephone numbers as in :func:`reachable`, where what stands after a
    colon is a number too.

    So is the administration's emergency number, wherever it stands by itself.
    """
    numbers = list(_numbers(text))
    emergency = rf"(?<![0-9])({re.escape(selectors.current().emergency_number)})(?![0-9])"
    for short in (*_AFTER_A_COLON.finditer(text), *re.finditer(emergency, text)):
        start, end = short.span(1)
        if all(end <= other[0] or other[1] <= start for other in numbers):
            numbers.append((start, end, "tel:" + re.sub(r"[^+0-9]", "", short[1])))
    return _linked(text, sorted(numbers))


@register.simple_tag(takes_context=True)
def emergency_number(context: Context) -> SafeString:
    """Return the administration's emergency number as a link."""
    number = administration(context).emergency_number
    label = re.sub(r"\s", _NO_BREAK, number)
    link = re.sub(r"[^+0-9]", "", number)
    return format_html('<a class="govuk-link" href="tel:{}">{}</a>', link, label)


def _numbers(text: str) -> Iterator[Link]:
    return (
        (fact.start, fact.end, f"tel:{fact.value}") for fact in facts(text) if fact.kind == "phone"
    )


def _linked(
    text: str, links: list[Link], written: Callable[[str], str] = conditional_escape
) -> SafeString:
    html, last = [], 0
    for start, end, address in links:
        label = written(re.sub(r"\s", _NO_BREAK, text[start:end]))
        rel = mark_safe(' rel="noopener nofollow"') if _WEB.match(address) else ""
        link = format_html('<a class="govuk-link" href="{}"{}>{}</a>', address, rel, label)
        html += [written(text[last:start]), link]
        last = end
    html.append(written(text[last:]))
    return mark_safe("".join(html))  # noqa: S308  # each part is escaped


@register.simple_tag
def version() -> str:
    return str(settings.IEIM_VERSION)

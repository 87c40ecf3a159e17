"""Telephone numbers in a text as links: whoever reads it in an emergency need not type them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django import template
from django.template import Context
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from ieim.administration import selectors
from ieim.administration.templatetags.administration import administration
from ieim.pipeline.facts import facts

register = template.Library()

_NO_BREAK = "\u00a0"
_AFTER_A_COLON = re.compile(r":[ \u00a0]?([0-9]{3,6})(?![0-9]|[.,:/–-][0-9]|[ \u00a0][0-9])")

Number = tuple[int, int, str]


@register.filter
def telephones(text: str) -> SafeString:
    """Return ``text`` as HTML, escaped, each telephone number in it a link in one line.

    Numbers are those that the gate sees as such (:mod:`ieim.pipeline.facts`).
    """
    return _linked(text, list(_numbers(text)))


@register.filter
def emergency_telephones(text: str) -> SafeString:
    """Return :func:`telephones` of ``text``, where what stands after a colon is a number too.

    So is the administration's emergency number, wherever it stands by itself.
    """
    found = list(_numbers(text))
    emergency = rf"(?<![0-9])({re.escape(selectors.current().emergency_number)})(?![0-9])"
    for short in (*_AFTER_A_COLON.finditer(text), *re.finditer(emergency, text)):
        start, end = short.span(1)
        if all(end <= other[0] or other[1] <= start for other in found):
            found.append((start, end, re.sub(r"[^+0-9]", "", short[1])))
    return _linked(text, sorted(found))


@register.simple_tag(takes_context=True)
def emergency_number(context: Context) -> SafeString:
    """Return the administration's emergency number as a link."""
    number = administration(context).emergency_number
    shown = re.sub(r"\s", _NO_BREAK, number)
    link = re.sub(r"[^+0-9]", "", number)
    return format_html('<a class="govuk-link" href="tel:{}">{}</a>', link, shown)


def _numbers(text: str) -> Iterator[Number]:
    return ((each.start, each.end, each.value) for each in facts(text) if each.kind == "phone")


def _linked(text: str, numbers: list[Number]) -> SafeString:
    html, last = [], 0
    for start, end, value in numbers:
        shown = re.sub(r"\s", _NO_BREAK, text[start:end])
        html.append(conditional_escape(text[last:start]))
        html.append(format_html('<a class="govuk-link" href="tel:{}">{}</a>', value, shown))
        last = end
    html.append(conditional_escape(text[last:]))
    return mark_safe("".join(html))  # noqa: S308  # each part is escaped

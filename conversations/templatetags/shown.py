"""What citizens and models wrote, in a page: no character in it turns what stands around it.

Both filters are known to every template (settings). A place that is not a whole element of its own
also needs ``<bdi>`` or ``dir="auto"`` around it, so that its direction stays inside.
"""

from __future__ import annotations

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

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

"""The language of the page at hand, for what stands around its content."""

from __future__ import annotations

from django import template

from conversations import page_languages

register = template.Library()


@register.simple_tag
def page_language() -> page_languages.PageLanguage:
    """Return the language that the page is in."""
    return page_languages.of_this_page()

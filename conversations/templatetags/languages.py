"""The language of the page at hand, for what stands around its content."""

from __future__ import annotations

from django import template

from conversations.languages import pages

register = template.Library()


@register.simple_tag
def page_language() -> pages.PageLanguage:
    """Return the language that the page is in."""
    return pages.of_this_page()

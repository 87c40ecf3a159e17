"""Coming back, in a page: the private link as an e-mail, and the moments of what may be new."""

from __future__ import annotations

from datetime import datetime

from django import template

from conversations import returning
from conversations.chat.wording import Words

register = template.Library()


@register.simple_tag
def mailto(words: Words, reference: str, link: str) -> str:
    """Return the address that opens an e-mail with the private link in it."""
    return returning.mailto(words, reference, link)


@register.filter
def moment(at: datetime) -> int:
    """Return a moment in microseconds since 1970."""
    return returning.moment(at)

"""Days in a page, as the language around them writes them."""

from __future__ import annotations

from datetime import datetime

from django import template

from conversations.chat.wording import Words

register = template.Library()


@register.filter
def day(at: datetime, words: Words) -> str:
    """Return the day of a moment in the language of ``words``."""
    return words.day(at)

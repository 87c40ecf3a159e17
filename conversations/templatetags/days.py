"""Days and times in a page, as the language around them writes them."""

from __future__ import annotations

from datetime import date, datetime, time

from babel.dates import format_date, format_time
from django import template
from django.utils import timezone

from conversations import page_languages
from conversations.chat.wording import Words

register = template.Library()


@register.filter
def day(at: datetime, words: Words) -> str:
    """Return the day of a moment in the language of ``words``."""
    return words.day(at)


@register.filter
def weekday_and_day(at: date | datetime) -> str:
    """Return a day, or that of a moment, with its weekday, in the language of the page."""
    on = timezone.localtime(at).date() if isinstance(at, datetime) else at
    return format_date(on, format="full", locale=page_languages.locale(page_languages.current()))


@register.filter
def clock(at: datetime | time) -> str:
    """Return a time of day, or that of a moment, in the language of the page."""
    of_day = timezone.localtime(at).time() if isinstance(at, datetime) else at
    return format_time(
        of_day, format="short", locale=page_languages.locale(page_languages.current())
    )

"""Filters for figures: durations and shares."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext, gettext_noop

register = template.Library()

DAY = 86_400
UNITS = (
    (DAY, gettext_noop("{number} days")),
    (3_600, gettext_noop("{number} h")),
    (60, gettext_noop("{number} min")),
    (1, gettext_noop("{number} s")),
)
"""Units of durations: seconds, and how a number of them is written; the largest first."""


@register.filter
def duration(seconds: float | None) -> str:
    """Return a time in the unit that fits it, a dash for None."""
    if seconds is None:
        return "–"
    size, unit = next((unit for unit in UNITS if seconds >= unit[0]), UNITS[-1])
    value = f"{seconds / size:.{int(size > 1)}f}".removesuffix(".0")
    if size == DAY and value == "1":
        return gettext("1 day")
    return gettext(unit).format(number=value)


@register.filter
def share(part: int, whole: int) -> str:
    """Return a part of a whole in per cent, a dash for a share of nothing."""
    return f"{part / whole:.0%}" if whole else "–"

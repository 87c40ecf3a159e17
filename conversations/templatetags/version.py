"""The version of the software, for the foot of every page."""

from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def version() -> str:
    """Return the version of the software."""
    return str(settings.IEIM_VERSION)

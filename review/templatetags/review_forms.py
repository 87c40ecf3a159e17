"""What templates of the console need beyond Django's own filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from ieim.people.models import User
from review.colleagues import selectors

register = template.Library()


@register.filter
def at(values: Mapping[str, Any] | None, key: str) -> Any:
    """Return ``values[key]``, None where there is nothing: for keys that are no identifiers."""
    return (values or {}).get(key)


@register.filter
def unread_mentions(user: User) -> int:
    """Return how many mentions a user has not read, for the navigation."""
    return selectors.unread(user)

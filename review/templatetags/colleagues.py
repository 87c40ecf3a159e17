"""The number of unread mentions, for the navigation."""

from __future__ import annotations

from django import template

from ieim.people.models import User
from review.colleagues import selectors

register = template.Library()


@register.filter
def unread_mentions(user: User) -> int:
    """Return how many mentions a user has not read."""
    return selectors.unread(user)

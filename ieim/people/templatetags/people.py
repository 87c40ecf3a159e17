"""What pages say of rights: ``{% given_alone as alone %}``, and a right in words."""

from __future__ import annotations

from django import template

from ieim.people import selectors
from ieim.people.four_eyes import rights
from ieim.people.models import Grant

register = template.Library()
register.simple_tag(selectors.given_alone)


@register.filter
def in_words(grant: Grant) -> str:
    """Return the rights of a grant as staff read them."""
    return ", ".join(map(rights.in_words, grant.rights))

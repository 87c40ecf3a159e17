"""Who sees which items: the one rule, for pages, REST, claims and decisions alike."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from ieim.people.models import User
from ieim.people.scope import agencies_of
from review.models import SIGN, ReviewItem
from review.scope import belonging

TRIAGE = "review.triage_reviewitem"

Person = User | AnonymousUser


def visible(user: Person) -> QuerySet[ReviewItem]:
    """Return the items that a user may see, and work on as far as their role goes."""
    return ReviewItem.objects.filter(_condition(user))


def sees(user: Person, item: ReviewItem) -> bool:
    """Whether an item is among those."""
    return visible(user).filter(pk=item.pk).exists()


def _condition(user: Person) -> Q:
    """Return what makes an item theirs: one of its agencies, that it has none, or a crisis.

    Whoever works for every agency sees all; what has no agency yet takes a role that says so.
    """
    scope = agencies_of(user)
    if scope is None:
        return Q()
    theirs = Q(agencies__in=belonging.sets_with(scope))
    if user.has_perm(TRIAGE):
        theirs |= Q(agencies=None)
    if scope:
        # A life may be at stake: whoever sees it first acts, whatever agency was guessed.
        theirs |= Q(rank__lte=SIGN)
    return theirs

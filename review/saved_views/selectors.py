"""Reads: the views that somebody has, with the number of items in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext

from ieim.people.models import EVERY_AGENCY, User
from ieim.people.scope import agencies_of
from ieim.studio.pages.presenters import Choice
from review import scope
from review.deciding.locking import SUPERVISE
from review.models import SavedView
from review.queue.filters import ItemFilter
from review.queue.selectors import listing, totals

MAX_LISTED = 50
"""Views of somebody that are listed and counted; each costs queries, and databases limit them."""
Agencies = frozenset[str] | None
"""Agencies that a user works for; None for all."""


@dataclass(frozen=True, slots=True)
class ViewLink:
    """A saved view: ``owner`` is whose it is, empty for one's own; ``items`` how many it has."""

    view: SavedView
    owner: str
    items: int
    may_change: bool
    chosen: bool


def visible(user: User, agencies: Agencies) -> QuerySet[SavedView]:
    """Return a user's own views, and those that are shared with their ``agencies``."""
    shared = Q(shared_with=EVERY_AGENCY)
    shared |= Q(shared_with__isnull=False) if agencies is None else Q(shared_with__in=agencies)
    return SavedView.objects.filter(Q(owner=user.pk) | shared).select_related("owner")


def changeable(user: User) -> QuerySet[SavedView]:
    """Return the views that a user may change: their own, and for supervisors all they see."""
    views = visible(user, agencies_of(user))
    return views if user.has_perm(SUPERVISE) else views.filter(owner=user.pk)


def view_links(
    user: User, agencies: Agencies, filters: ItemFilter, now: datetime
) -> list[ViewLink]:
    """Return the views of a user, their own first, :data:`MAX_LISTED` at most."""
    views = sorted(visible(user, agencies), key=lambda view: (view.owner_id != user.pk, view.name))
    return links(views[:MAX_LISTED], user, filters, now)


def links(
    views: Sequence[SavedView], user: User, filters: ItemFilter, now: datetime
) -> list[ViewLink]:
    """Return the links of views, in two queries beside those of searches."""
    within = scope.visible(user)
    lists = [
        listing(user, ItemFilter(QueryDict(view.query).dict()), now, within=within)
        for view in views
    ]
    numbers = totals(lists)
    supervises = user.has_perm(SUPERVISE)
    return [
        ViewLink(
            view,
            "" if (own := view.owner_id == user.pk) else view.owner.display_name,
            items,
            own or supervises,
            view.query == filters.query,
        )
        for view, items in zip(views, numbers, strict=True)
    ]


def audiences(
    user: User, agencies: Agencies, view: SavedView | None, names: Mapping[str, str]
) -> Sequence[Choice]:
    """Return with whom a user may share a view; the present audience of ``view`` is chosen."""
    present = view and view.shared_with
    options = {"": gettext("Only you")}
    options |= {id_: name for id_, name in names.items() if agencies is None or id_ in agencies}
    if user.has_perm(SUPERVISE) or present == EVERY_AGENCY:
        options[EVERY_AGENCY] = gettext("Everybody")
    return [Choice(value, words, value == (present or "")) for value, words in options.items()]

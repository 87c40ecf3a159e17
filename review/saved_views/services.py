"""Writes: saving, sharing and deleting views."""

from __future__ import annotations

from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext

from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people.models import EVERY_AGENCY, User
from ieim.people.scope import known_agencies, works_for
from review.deciding.locking import SUPERVISE
from review.models import SavedView
from review.queue.filters import BadAddress, ItemFilter
from review.queue.services import NotDone
from review.saved_views.selectors import changeable

MAX_NAME = 60
MAX_QUERY = 500
MAX_VIEWS = 30


@transaction.atomic
def save_view(
    *, actor: User, name: str, query: str, shared_with: str = "", pk: str = ""
) -> SavedView:
    """Save filters (an address's query string) under a name.

    Of the actor's own views a name that is taken gets the new filters, and filters that are saved
    already get the new name; ``pk`` names the view instead, for a supervisor also a colleague's.
    ``shared_with`` is an agency of the actor's, :data:`EVERY_AGENCY` for supervisors, or empty.

    Raises:
        NotDone: for a view that cannot be saved or shared like this.
    """
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise NotDone(gettext("Give the view a name."))
    if len(name) > MAX_NAME:
        message = gettext("The name is too long. Use at most {number} characters.")
        raise NotDone(message.format(number=MAX_NAME))
    try:
        query = ItemFilter.parse(QueryDict(query).dict()).query
    except BadAddress as error:
        raise NotDone(str(error)) from error
    if len(query) > MAX_QUERY:
        raise NotDone(gettext("These are too many filters to save. Take some away."))
    view = _changeable(actor, pk) if pk else None
    owner_id = view.owner_id if view else actor.pk
    User.objects.select_for_update().get(pk=owner_id)  # whoever saves twice at once saves one view
    views = SavedView.objects.filter(owner_id=owner_id)
    if view is None:
        view = views.filter(name=name).first() or views.filter(query=query).first()
    elif views.filter(name=name).exclude(pk=view.pk).exists():
        raise NotDone(gettext("There is a view of that name already. Choose another name."))
    if view is None and views.count() >= MAX_VIEWS:
        message = gettext("You have {number} views. Delete one first.")
        raise NotDone(message.format(number=MAX_VIEWS))
    view = view or SavedView(owner=actor)
    before = view.shared_with or ""
    if shared_with == EVERY_AGENCY != before and not actor.has_perm(SUPERVISE):
        raise NotDone(gettext("Only supervisors share a view with everybody."))
    is_known = works_for(actor, shared_with) and shared_with in known_agencies()
    if shared_with not in ("", EVERY_AGENCY, before) and not is_known:
        raise NotDone(gettext("Share the view with an agency that you work for."))
    view.name, view.query, view.shared_with = name, query, shared_with or None
    view.save()
    _record(view, actor, before, shared_with)
    return view


@transaction.atomic
def delete_view(*, actor: User, pk: str) -> None:
    """Delete a view; raises :class:`NotDone` for one that is not the actor's to change."""
    view = _changeable(actor, pk)
    _record(view, actor, view.shared_with or "", "")
    view.delete()


def _changeable(actor: User, pk: str) -> SavedView:
    view = changeable(actor).filter(pk=pk).first() if pk.isdecimal() and len(pk) < 19 else None
    if view is None:
        raise NotDone(gettext("There is no such view, or only its owner may change it."))
    return view


def _record(view: SavedView, actor: User, before: str, after: str) -> None:
    """Record with whom a view is shared now; its name and words may be of citizens."""
    if before != after:
        payload: dict[str, JSONValue] = {"view": view.pk, "before": before, "after": after}
        record(chain=PEOPLE_CHAIN, kind="review.view_shared", actor=actor.actor, payload=payload)

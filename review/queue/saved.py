"""Writes: a user's own views of the queue."""

from __future__ import annotations

from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext

from ieim.people.models import User
from review.models import SavedView
from review.queue.searching import Filters, UnknownFilter

LONGEST_NAME = 60
LONGEST_QUERY = 500
MOST = 30
"""Views of one person: more are no shortcut."""


class NotSaved(Exception):
    """A view that cannot be had; ``message`` says why and what to do. Nothing was changed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@transaction.atomic
def save(*, owner: User, name: str, query: str) -> SavedView:
    """Keep filters (an address's query string) under a name.

    A name that is taken gets the new filters; filters that are saved already get the new name.
    Raises :class:`NotSaved`.
    """
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise NotSaved(gettext("Give the view a name."))
    if len(name) > LONGEST_NAME:
        raise NotSaved(
            gettext("The name is too long. Use at most {number} characters.").format(
                number=LONGEST_NAME
            )
        )
    try:
        query = Filters.parse(QueryDict(query).dict()).query
    except UnknownFilter as error:
        raise NotSaved(str(error)) from error
    if len(query) > LONGEST_QUERY:
        raise NotSaved(gettext("These are too many filters to save. Take some away."))
    views = SavedView.objects.select_for_update().filter(owner_id=owner.pk)
    if named := views.filter(name=name).first():
        named.query = query
        named.save(update_fields=["query"])
        return named
    if same := views.filter(query=query).first():
        same.name = name
        same.save(update_fields=["name"])
        return same
    if views.count() >= MOST:
        raise NotSaved(gettext("You have {number} views. Delete one first.").format(number=MOST))
    view, _ = SavedView.objects.update_or_create(
        owner_id=owner.pk, name=name, defaults={"query": query}
    )
    return view


def delete(*, owner: User, name: str) -> None:
    """Delete a view; raises :class:`NotSaved` where there is none of that name."""
    deleted, _ = SavedView.objects.filter(owner_id=owner.pk, name=name).delete()
    if not deleted:
        raise NotSaved(gettext("There is no view of that name."))

"""Writes: bulk actions on items of the queue, and a user's saved views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext, ngettext_lazy

from ieim.people.models import User
from review import claims
from review.batches.services import GONE
from review.claims import ClaimRefused
from review.models import ReviewItem, SavedView
from review.queue.filters import BadAddress, ItemFilter

MAX_ITEMS = 100
"""Items at once; a page shows fewer."""
CLAIMED: Any = ngettext_lazy("{number} item claimed.", "{number} items claimed.", "number")
ASSIGNED: Any = ngettext_lazy(
    "{number} item given to {name}.", "{number} items given to {name}.", "number"
)
SEVERAL: Any = ngettext_lazy("{problem} ({number} item)", "{problem} ({number} items)", "number")


class NotDone(Exception):
    """Nothing was done; the message says why and what to do."""


Result = tuple[str, list[str]]
"""A sentence on the items that were changed (empty for none), and why others were not."""


def act_on_items(actor: User, form: QueryDict) -> Result:
    """Claim or assign (``do``) each ``item`` of a form.

    ``to`` is a colleague's user name. Problems of single items are in the result.

    Raises:
        NotDone: for a form that cannot be used.
    """
    items = _items(form.getlist("item"))
    match form.get("do"):
        case "claim":
            return _for_each(items, lambda pk: claims.claim(item_id=pk, actor=actor), CLAIMED)
        case "assign":
            return _assign(items, form.get("to", ""), actor)
        case _:
            raise NotDone(gettext("Choose what to do with the items."))


def _items(values: Sequence[str]) -> list[UUID]:
    if not values:
        raise NotDone(gettext("Choose at least one item."))
    if len(values) > MAX_ITEMS:
        raise NotDone(gettext("Choose at most {number} items at once.").format(number=MAX_ITEMS))
    try:
        return [UUID(value) for value in dict.fromkeys(values)]
    except ValueError as error:
        raise NotDone(gettext(GONE)) from error


def _assign(items: list[UUID], username: str, actor: User) -> Result:
    to = User.objects.filter(username=username, is_active=True).first()
    if to is None:
        raise NotDone(gettext("Choose whom to give the items to."))
    assign = partial(claims.assign, to=to, actor=actor)
    return _for_each(items, lambda pk: assign(item_id=pk), ASSIGNED, name=to.display_name)


def _for_each(items: list[UUID], act: Callable[[UUID], object], done: Any, **values: str) -> Result:
    """Change each item; ``done`` is the sentence that says how many were changed."""
    count, problems = 0, []
    for pk in items:
        try:
            act(pk)
        except ClaimRefused as refused:
            problems.append(str(refused))
        except ReviewItem.DoesNotExist:
            problems.append(gettext(GONE))
        except PermissionDenied as error:
            raise NotDone(gettext("You do not have the right to do this.")) from error
        else:
            count += 1
    not_done = [
        problem if n == 1 else SEVERAL.format(problem=problem, number=n)
        for problem, n in Counter(problems).items()
    ]
    return done.format(number=count, **values) if count else "", not_done


MAX_NAME = 60
MAX_QUERY = 500
MAX_VIEWS = 30


@transaction.atomic
def save_view(*, owner: User, name: str, query: str) -> SavedView:
    """Save filters (an address's query string) under a name.

    A name that is taken gets the new filters; filters that are saved already get the new name.

    Raises:
        NotDone: for a name or filters that cannot be saved.
    """
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise NotDone(gettext("Give the view a name."))
    if len(name) > MAX_NAME:
        raise NotDone(
            gettext("The name is too long. Use at most {number} characters.").format(
                number=MAX_NAME
            )
        )
    try:
        query = ItemFilter.parse(QueryDict(query).dict()).query
    except BadAddress as error:
        raise NotDone(str(error)) from error
    if len(query) > MAX_QUERY:
        raise NotDone(gettext("These are too many filters to save. Take some away."))
    views = SavedView.objects.select_for_update().filter(owner_id=owner.pk)
    view = views.filter(name=name).first() or views.filter(query=query).first()
    if view is not None:
        view.name, view.query = name, query
        view.save()
        return view
    if views.count() >= MAX_VIEWS:
        raise NotDone(
            gettext("You have {number} views. Delete one first.").format(number=MAX_VIEWS)
        )
    view, _ = SavedView.objects.update_or_create(
        owner_id=owner.pk, name=name, defaults={"query": query}
    )
    return view


def delete_view(*, owner: User, name: str) -> None:
    """Delete a view; raises :class:`NotDone` for an unknown name."""
    deleted, _ = SavedView.objects.filter(owner_id=owner.pk, name=name).delete()
    if not deleted:
        raise NotDone(gettext("There is no view of that name."))

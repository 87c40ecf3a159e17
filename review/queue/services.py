"""Writes: one thing done to several items of the queue, and a user's saved views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext, gettext_noop, ngettext_lazy

from ieim.people.models import User
from review import claims, deciding
from review.claims import ClaimRefused
from review.crisis import is_crisis, of_refusal
from review.deciding import Action
from review.models import ReviewItem, SavedView
from review.queue.filters import BadAddress, Filters

MOST_ITEMS = 100
"""Items at once; a page shows fewer."""
GONE = gettext_noop("An item is not there any more.")
ALONE = gettext_noop(
    "An item in crisis is not dismissed with others. Open it and answer it by itself."
)
UNREAD = gettext_noop(
    "A model refused to read this message. Read it yourself and say that you have, then dismiss it."
)

CLAIMED: Any = ngettext_lazy("{number} item claimed.", "{number} items claimed.", "number")
DISMISSED: Any = ngettext_lazy("{number} item dismissed.", "{number} items dismissed.", "number")
GIVEN: Any = ngettext_lazy(
    "{number} item given to {name}.", "{number} items given to {name}.", "number"
)
SEVERAL: Any = ngettext_lazy("{problem} ({number} item)", "{problem} ({number} items)", "number")


class NotDone(Exception):
    """Nothing was done; the message says why and what to do."""


Result = tuple[str, list[str]]
"""That items were done, in a sentence (empty for none), and why others were not."""


def act_on_items(actor: User, form: QueryDict) -> Result:
    """Do what a form asks: ``do`` (claim, assign, dismiss) to each ``item``.

    ``to`` is a colleague's user name, ``reason`` why the items are dismissed, ``read`` ("1") that
    the messages among them were read that a model refused to read. Raises :class:`NotDone`; what
    happens to single items is in the result.
    """
    items = _items(form.getlist("item"))
    match form.get("do"):
        case "claim":
            return _each(items, lambda pk: claims.claim(item_id=pk, actor=actor), CLAIMED)
        case "assign":
            return _assign(items, form.get("to", ""), actor)
        case "dismiss":
            reason = form.get("reason", "").strip()
            if not reason:
                raise NotDone(gettext("Say why you dismiss the items."))
            is_read = form.get("read") == "1"
            return _each(items, lambda pk: _dismiss(pk, actor, reason, is_read), DISMISSED)
        case _:
            raise NotDone(gettext("Choose what to do with the items."))


def _items(values: Sequence[str]) -> list[UUID]:
    if not values:
        raise NotDone(gettext("Choose at least one item."))
    if len(values) > MOST_ITEMS:
        raise NotDone(gettext("Choose at most {number} items at once.").format(number=MOST_ITEMS))
    try:
        return [UUID(value) for value in dict.fromkeys(values)]
    except ValueError as error:
        raise NotDone(gettext(GONE)) from error


@transaction.atomic
def _dismiss(pk: UUID, actor: User, reason: str, is_read: bool) -> None:
    """Claim and dismiss at once: what cannot be dismissed is not claimed either."""
    item = claims.claim(item_id=pk, actor=actor)
    if is_crisis(item):
        raise ClaimRefused(gettext(ALONE))
    if of_refusal(item) and not is_read:
        raise ClaimRefused(gettext(UNREAD))
    deciding.decide(
        item_id=pk,
        actor=actor,
        version=item.version,
        action=Action.DISMISS,
        reason=reason,
        payload={},
    )


def _assign(items: list[UUID], username: str, actor: User) -> Result:
    to = User.objects.filter(username=username, is_active=True).first()
    if to is None:
        raise NotDone(gettext("Choose whom to give the items to."))
    name = to.display_name
    return _each(items, lambda pk: claims.assign(item_id=pk, to=to, actor=actor), GIVEN, name=name)


def _each(items: list[UUID], act: Callable[[UUID], object], done: Any, **named: str) -> Result:
    """Do something to each item; ``done`` is the sentence that says to how many it was done."""
    count, problems = 0, []
    for pk in items:
        try:
            act(pk)
        except (ClaimRefused, deciding.Refused, deciding.Conflict) as refused:
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
    return done.format(number=count, **named) if count else "", not_done


LONGEST_NAME = 60
LONGEST_QUERY = 500
MOST_VIEWS = 30
"""Views of one person: more are no shortcut."""


@transaction.atomic
def save_view(*, owner: User, name: str, query: str) -> SavedView:
    """Keep filters (an address's query string) under a name.

    A name that is taken gets the new filters; filters that are saved already get the new name.
    Raises :class:`NotDone`.
    """
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise NotDone(gettext("Give the view a name."))
    if len(name) > LONGEST_NAME:
        raise NotDone(
            gettext("The name is too long. Use at most {number} characters.").format(
                number=LONGEST_NAME
            )
        )
    try:
        query = Filters.parse(QueryDict(query).dict()).query
    except BadAddress as error:
        raise NotDone(str(error)) from error
    if len(query) > LONGEST_QUERY:
        raise NotDone(gettext("These are too many filters to save. Take some away."))
    views = SavedView.objects.select_for_update().filter(owner_id=owner.pk)
    view = views.filter(name=name).first() or views.filter(query=query).first()
    if view is not None:
        view.name, view.query = name, query
        view.save()
        return view
    if views.count() >= MOST_VIEWS:
        raise NotDone(
            gettext("You have {number} views. Delete one first.").format(number=MOST_VIEWS)
        )
    view, _ = SavedView.objects.update_or_create(
        owner_id=owner.pk, name=name, defaults={"query": query}
    )
    return view


def delete_view(*, owner: User, name: str) -> None:
    """Delete a view; raises :class:`NotDone` where there is none of that name."""
    deleted, _ = SavedView.objects.filter(owner_id=owner.pk, name=name).delete()
    if not deleted:
        raise NotDone(gettext("There is no view of that name."))

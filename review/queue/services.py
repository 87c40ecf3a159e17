"""Writes: one thing done to several items of the queue, and a user's saved views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext, gettext_noop, ngettext

from ieim.people.models import User
from review import claims, deciding
from review.claims import ClaimRefused, ClaimTaken
from review.crisis import is_crisis
from review.deciding import Action
from review.models import ReviewItem, SavedView
from review.queue import selectors
from review.queue.filters import Filters, UnknownFilter

MOST_ITEMS = 100
"""Items at once; a page shows fewer."""
GONE = gettext_noop("An item is not there any more.")
ALONE = gettext_noop(
    "An item in crisis is not dismissed with others. Open it and answer it by itself."
)


class NotDone(Exception):
    """Nothing was done; ``message`` says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What became of the items, in sentences."""

    done: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()


def act_on_items(actor: User, form: QueryDict) -> BulkResult:
    """Do what a form asks: ``do`` (claim, assign, dismiss) to each ``item``.

    ``to`` is a colleague's user name, ``reason`` why the items are dismissed. Raises
    :class:`NotDone`; what happens to single items is in the result.
    """
    items = _items(form.getlist("item"))
    match form.get("do"):
        case "claim":
            return _each(items, lambda pk: claims.claim(item_id=pk, actor=actor), _claimed)
        case "assign":
            return _assign(items, form.get("to", ""), actor)
        case "dismiss":
            reason = form.get("reason", "").strip()
            if not reason:
                raise NotDone(gettext("Say why you dismiss the items."))
            return _each(items, lambda pk: _dismiss(pk, actor, reason), _dismissed)
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
def _dismiss(pk: UUID, actor: User, reason: str) -> None:
    """Claim and dismiss at once: what cannot be dismissed is not claimed either."""
    item = claims.claim(item_id=pk, actor=actor)
    if is_crisis(item):
        raise ClaimRefused(gettext(ALONE))
    deciding.decide(
        item_id=pk,
        actor=actor,
        version=item.version,
        action=Action.DISMISS,
        reason=reason,
        payload={},
    )


def _assign(items: list[UUID], username: str, actor: User) -> BulkResult:
    to = User.objects.filter(username=username, is_active=True).first()
    if to is None:
        raise NotDone(gettext("Choose whom to give the items to."))

    def given(count: int) -> str:
        message = ngettext(
            "{number} item given to {name}.", "{number} items given to {name}.", count
        )
        return message.format(number=count, name=selectors.name_of(to))

    return _each(
        items, lambda pk: _require_assigned(claims.assign(items=[pk], to=to, actor=actor)), given
    )


def _claimed(count: int) -> str:
    return ngettext("{number} item claimed.", "{number} items claimed.", count).format(number=count)


def _dismissed(count: int) -> str:
    message = ngettext("{number} item dismissed.", "{number} items dismissed.", count)
    return message.format(number=count)


def _several(problem: str, count: int) -> str:
    message = ngettext("{problem} ({number} item)", "{problem} ({number} items)", count)
    return message.format(problem=problem, number=count)


def _require_assigned(assigned: list[ReviewItem]) -> None:
    assert assigned  # noqa: S101 - one item was given, and a refusal is raised


def _each(
    items: list[UUID], act: Callable[[UUID], object], done: Callable[[int], str]
) -> BulkResult:
    count, problems = 0, []
    for pk in items:
        try:
            act(pk)
        except ClaimTaken as conflict:
            problems.append(str(conflict))
        except (ClaimRefused, deciding.Refused, deciding.Conflict) as refused:
            problems.append(refused.message)
        except ReviewItem.DoesNotExist:
            problems.append(gettext(GONE))
        except PermissionDenied as error:
            raise NotDone(gettext("You do not have the right to do this.")) from error
        else:
            count += 1
    counted = {problem: problems.count(problem) for problem in problems}
    return BulkResult(
        (done(count),) if count else (),
        tuple(p if n == 1 else _several(p, n) for p, n in counted.items()),
    )


LONGEST_NAME = 60
LONGEST_QUERY = 500
MOST_VIEWS = 30
"""Views of one person: more are no shortcut."""


class NotSaved(Exception):
    """A view that cannot be had; ``message`` says why and what to do. Nothing was changed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@transaction.atomic
def save_view(*, owner: User, name: str, query: str) -> SavedView:
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
    if views.count() >= MOST_VIEWS:
        raise NotSaved(
            gettext("You have {number} views. Delete one first.").format(number=MOST_VIEWS)
        )
    view, _ = SavedView.objects.update_or_create(
        owner_id=owner.pk, name=name, defaults={"query": query}
    )
    return view


def delete_view(*, owner: User, name: str) -> None:
    """Delete a view; raises :class:`NotSaved` where there is none of that name."""
    deleted, _ = SavedView.objects.filter(owner_id=owner.pk, name=name).delete()
    if not deleted:
        raise NotSaved(gettext("There is no view of that name."))

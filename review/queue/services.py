"""Writes: bulk actions on items of the queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
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
from review.models import ReviewItem

MAX_ITEMS = 100
"""Items at once; a page shows fewer."""
GONE = gettext_noop("An item is not there any more.")
IN_CRISIS = gettext_noop(
    "An item in crisis is not dismissed with others. Open it and answer it by itself."
)
UNREAD = gettext_noop(
    "A model refused to read this message. Read it yourself and say that you have, then dismiss it."
)

CLAIMED: Any = ngettext_lazy("{number} item claimed.", "{number} items claimed.", "number")
DISMISSED: Any = ngettext_lazy("{number} item dismissed.", "{number} items dismissed.", "number")
ASSIGNED: Any = ngettext_lazy(
    "{number} item given to {name}.", "{number} items given to {name}.", "number"
)
SEVERAL: Any = ngettext_lazy("{problem} ({number} item)", "{problem} ({number} items)", "number")


class NotDone(Exception):
    """Nothing was done; the message says why and what to do."""


Result = tuple[str, list[str]]
"""A sentence on the items that were changed (empty for none), and why others were not."""


def act_on_items(actor: User, form: QueryDict) -> Result:
    """Claim, assign or dismiss (``do``) each ``item`` of a form.

    ``to`` is a colleague's user name, ``reason`` why the items are dismissed, ``read`` ("1") that
    the messages among them were read that a model refused to read. Problems of single items are in
    the result.

    Raises:
        NotDone: for a form that cannot be used.
    """
    items = _items(form.getlist("item"))
    match form.get("do"):
        case "claim":
            return _for_each(items, lambda pk: claims.claim(item_id=pk, actor=actor), CLAIMED)
        case "assign":
            return _assign(items, form.get("to", ""), actor)
        case "dismiss":
            reason = form.get("reason", "").strip()
            if not reason:
                raise NotDone(gettext("Say why you dismiss the items."))
            is_read = form.get("read") == "1"
            return _for_each(items, lambda pk: _dismiss(pk, actor, reason, is_read), DISMISSED)
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


@transaction.atomic
def _dismiss(pk: UUID, actor: User, reason: str, is_read: bool) -> None:
    """Claim and dismiss at once: what cannot be dismissed is not claimed either."""
    item = claims.claim(item_id=pk, actor=actor)
    if is_crisis(item):
        raise ClaimRefused(gettext(IN_CRISIS))
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
    assign = partial(claims.assign, to=to, actor=actor)
    return _for_each(items, lambda pk: assign(item_id=pk), ASSIGNED, name=to.display_name)


def _for_each(items: list[UUID], act: Callable[[UUID], object], done: Any, **values: str) -> Result:
    """Change each item; ``done`` is the sentence that says how many were changed."""
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
    return done.format(number=count, **values) if count else "", not_done

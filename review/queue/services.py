"""Writes: bulk actions on items of the queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import QueryDict
from django.utils.translation import gettext, ngettext_lazy

from ieim.people.models import User
from review import claims
from review.batches.services import GONE
from review.claims import ClaimRefused
from review.models import ReviewItem

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
    users = User.objects.filter(username=username, is_active=True)
    to = None if "\0" in username else users.first()  # PostgreSQL takes no NUL
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

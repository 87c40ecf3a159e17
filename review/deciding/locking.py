"""Locks on items, and the errors of decisions: two people never decide the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations.models import Turn
from conversations.person import takeovers
from conversations.person.models import Ended
from ieim.people.models import Token, User
from ieim.people.tokens import selectors as tokens
from ieim.people.tokens import services as token_services
from ieim.pipeline.findings import Finding
from ieim.pipeline.message.screen import refusal
from review import scope
from review.colleagues import presence
from review.models import Action, ReviewItem
from review.states import ReviewState


class Refused(Exception):
    """It may not be decided like this.

    ``message`` is the plain sentence for the caseworker: what is wrong and what to do.
    ``findings`` are the gate's, where the gate said no.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.findings = list(findings)


class Unconfirmed(Refused):
    """An approval in a crisis, without the confirmation that it needs."""


class Unchosen(Unconfirmed):
    """An approval of what the citizen has refused, likewise."""


class Outdated(Unconfirmed):
    """A reply whose services were withdrawn or changed since, likewise."""


class Unsourced(Unconfirmed):
    """A written reply that states what none of its sources does, as ``findings`` say, likewise."""


class Conflict(Exception):
    """Somebody else changed the item meanwhile; the message says who and what."""


ASSIGNED = "review.assigned"
"""The kind of the audit event by which somebody is given an item."""
DECIDE = "review.decide_reviewitem"
SUPERVISE = "review.supervise_reviewitem"
SECOND = "review.second_reviewitem"

TAKE_IT_FIRST = gettext_noop(
    "You have not taken this item, or your time with it ran out. Take it first."
)
NO_CLAIM: Mapping[str, Any] = {"claimed_by": None, "claimed_until": None}
MIN_LETTERS = 3
MAX_REASON = 2000


def find(item_id: UUID, actor: User, *, lock: bool = False) -> ReviewItem:
    """Return an item that the actor may see, with its turn, locked or not.

    Raises ``ReviewItem.DoesNotExist``, also for an item outside the actor's scope.
    """
    item = locked(item_id) if lock else _items().get(pk=item_id)
    if not scope.sees(actor, item):
        raise ReviewItem.DoesNotExist(f"no item {item_id} in the scope of {actor}")
    return item


def locked(item_id: UUID) -> ReviewItem:
    """Return an item whose row, and whose turn's, are held until the transaction ends."""
    turn_id = ReviewItem.objects.values_list("turn_id", flat=True).get(pk=item_id)
    # The turn first, as a worker and a claim do: two that wait for each other cannot happen.
    Turn.objects.select_for_update().only("pk").get(pk=turn_id)
    return _items().select_for_update(of=("self",)).get(pk=item_id)


def _items() -> QuerySet[ReviewItem]:
    return ReviewItem.objects.select_related("turn__session", "claimed_by")


def require_unchanged(item: ReviewItem, actor: User, version: int, now: datetime) -> None:
    """Raise :class:`Conflict` where the item is not at ``version``, or somebody else has it."""
    if item.version != version:
        raise Conflict(_changed(item))
    if problem := other_holder_problem(item, actor, now):
        raise Conflict(problem)


def advance(item: ReviewItem, *, state: ReviewState, **values: Any) -> None:
    """Change an item and count its version up; raises :class:`Conflict` where another was first.

    Who does not hold it any more is no longer in the citizen's conversation.
    """
    values |= {"state": state.value, "version": item.version + 1}
    if not ReviewItem.objects.filter(pk=item.pk, version=item.version).update(**values):
        raise Conflict(_changed(item))
    for field, value in values.items():
        setattr(item, field, value)
    is_decided = state in (ReviewState.DECIDED, ReviewState.SENDING)
    how = Ended.DECIDED if is_decided else Ended.CLAIM_LOST
    takeovers.end_unclaimed(item=item.pk, claimed_by_id=item.claimed_by_id, how=how)
    presence.announce_change(item.pk)


def claim_end() -> datetime:
    """Return until when a claim that is taken or renewed now holds."""
    return timezone.now() + timedelta(minutes=settings.IEIM_CLAIM_MINUTES)


def _changed(item: ReviewItem) -> str:
    last = item.decisions.select_related("actor").last()
    if last is not None:
        done = str(Action(last.action).label).lower()
        message = gettext("{name} was faster: {done}. Look at the item again.")
        return message.format(name=last.actor.display_name, done=done)
    if item.claimed_by is not None:
        message = gettext("{name} took or changed this item meanwhile. Look at it again.")
        return message.format(name=item.claimed_by.display_name)
    return gettext("This item was changed meanwhile. Look at it again.")


def still_acting(user: User, prefix: str) -> User:
    """Return who decided something that has not happened yet, with the limits of their token.

    Raises :class:`Refused` where they, or the token, may decide nothing any more.
    """
    try:
        if prefix:
            token_services.require_valid(Token.objects.select_related("user").get(prefix=prefix))
    except token_services.Refused as refused:
        raise Refused(str(refused)) from None
    actor = tokens.acting(user, prefix)
    if not actor.has_perm(DECIDE):
        raise Refused(gettext("Who decided this may decide nothing any more."))
    return actor


def other_holder_problem(item: ReviewItem, actor: User, now: datetime) -> str:
    """Return that somebody else has an item, as a sentence; empty where nobody else has."""
    holder = item.holder(now)
    if holder is None or holder == actor:
        return ""
    return gettext("{name} is working on this item.").format(name=holder.display_name)


def claim_problem(item: ReviewItem, actor: User, now: datetime) -> str:
    """Return why the actor does not hold the item; empty when they do."""
    if item.holder(now) == actor:
        return ""
    return other_holder_problem(item, actor, now) or gettext(TAKE_IT_FIRST)


def checked_reason(reason: object) -> str:
    """Return a decision's reason without the space around it; raises :class:`Refused`."""
    text = reason.strip() if isinstance(reason, str) else ""
    if not text:
        raise Refused(gettext("Say in a few words why you decide so: a decision needs a reason."))
    if sum(map(str.isalpha, text)) < MIN_LETTERS:
        message = gettext("The reason is too short: write at least {number} letters.")
        raise Refused(message.format(number=MIN_LETTERS))
    if len(text) > MAX_REASON:
        message = gettext("The reason is {number} characters long; {most} are enough.")
        raise Refused(message.format(number=f"{len(text):,}", most=f"{MAX_REASON:,}"))
    if refusal(text) is not None:
        raise Refused(gettext("The reason has a character that cannot be stored. Type it again."))
    return text

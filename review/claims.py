"""Claims: who works on an item, until when, and what happens when two want the same one.

Every change is a compare-and-set on the item's version. A claim that ran out counts as free, so no
job has to end it. The turn's row is locked first, as a worker's write does: two that wait for each
other's rows cannot happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations.models import Turn
from conversations.person import takeovers
from conversations.person.models import Ended
from ieim.audit import services as audit
from ieim.people.models import User
from review import scope
from review.deciding import permitted, signing
from review.deciding.locking import DECIDE, SECOND, SUPERVISE
from review.models import ReviewItem
from review.queue import selectors
from review.states import ReviewState

DECIDED = gettext_noop("This item has been decided already.")
NOT_YOURS = gettext_noop("You do not have this item any more. Claim it again before you go on.")
OWN_DECISION = gettext_noop("You decided this item yourself. Somebody else has to look at it now.")


class ClaimTaken(Exception):
    """Somebody else has the item: ``by`` (a name) until ``until``. Nothing was changed."""

    def __init__(self, by: str, until: datetime) -> None:
        message = gettext("{name} has this item until {time}.")
        super().__init__(message.format(name=by, time=f"{timezone.localtime(until):%H:%M}"))
        self.by = by
        self.until = until


class ClaimRefused(Exception):
    """A claim that is refused; ``message`` says why. Nothing was changed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


Step = Callable[[ReviewItem], Mapping[str, Any]]
"""Returns an item's new values, or raises the reason why it must not change."""


@transaction.atomic
def claim(*, item_id: UUID, actor: User) -> ReviewItem:
    """Claim a free item, or one whose claim ran out; one's own is renewed.

    Raises :class:`ClaimTaken`, :class:`ClaimRefused`, ``PermissionDenied``, and
    ``ReviewItem.DoesNotExist`` outside the actor's agencies.
    """
    _require(actor, DECIDE)
    if holds(_locked(item_id, actor), actor, timezone.now()):
        return renew(item_id=item_id, actor=actor)

    def step(item: ReviewItem) -> Mapping[str, Any]:
        _require_free(item)
        return _claimed(item, actor, until=timezone.now() + _claim_time())

    item = _change(item_id, actor, step)
    _audit(item, "review.claimed", actor)
    return item


@transaction.atomic
def renew(*, item_id: UUID, actor: User) -> ReviewItem:
    """Let the actor's claim hold for longer. A claim that ran out comes back while it is free.

    This is no change to others, so the version stays and there is no audit event. Raises like
    :func:`claim`.
    """
    _require(actor, DECIDE)
    item = _locked(item_id, actor)
    _require_held(item, actor)
    until = timezone.now() + _claim_time()
    if item.claimed_until is None or item.claimed_until < until:
        held = ReviewItem.objects.filter(pk=item.pk, version=item.version)
        if not held.update(claimed_until=until):
            raise ClaimRefused(gettext(NOT_YOURS))
        item.claimed_until = until
    return item


@transaction.atomic
def release(*, item_id: UUID, actor: User) -> ReviewItem:
    """Give the actor's claim back. Raises like :func:`claim`."""
    _require(actor, DECIDE)

    def step(item: ReviewItem) -> Mapping[str, Any]:
        _require_held(item, actor)
        waits = signing.proposal_of(item) is not None
        state = ReviewState.SECOND_OPINION if waits else ReviewState.OPEN
        return {"state": state.value, "claimed_by": None, "claimed_until": None}

    item = _change(item_id, actor, step)
    _audit(item, "review.released", actor)
    return item


@transaction.atomic
def take_over(*, item_id: UUID, actor: User) -> ReviewItem:
    """Claim an item whoever has it: a supervisor's way. Raises like :func:`claim`."""
    _require(actor, SUPERVISE)
    item = _hand_to(item_id, actor, to=actor, until=timezone.now() + _claim_time())
    _audit(item, "review.taken_over", actor)
    return item


@transaction.atomic
def assign(*, items: Iterable[UUID], to: User, actor: User) -> list[ReviewItem]:
    """Give items to a colleague, whoever has them: all or none.

    They hold until they are due, and for as long as a claim at least. Raises like :func:`claim`,
    and :class:`ClaimRefused` where the colleague may not have one of them.
    """
    _require(actor, SUPERVISE)
    if not to.is_active or not to.has_perm(DECIDE):
        raise ClaimRefused(
            gettext("{name} may not decide items.").format(name=selectors.name_of(to))
        )
    given = []
    for item_id in sorted(items):
        due = scope.visible(actor).values_list("due_at", flat=True).get(pk=item_id)
        if not scope.visible(to).filter(pk=item_id).exists():
            message = gettext("{name} does not work for an item’s agency.")
            raise ClaimRefused(message.format(name=selectors.name_of(to)))
        until = max(timezone.now() + _claim_time(), due)
        item = _hand_to(item_id, actor, to=to, until=until)
        _audit(item, "review.assigned", actor, to=to)
        given.append(item)
    return given


def holds(item: ReviewItem, actor: User, now: datetime) -> bool:
    """Whether the actor has claimed the item and the claim has not run out."""
    return selectors.is_held(item, now) and item.claimed_by_id == actor.pk


def opinion_problem(item: ReviewItem, to: User) -> str:
    """Return why ``to`` may not have an item that waits for an opinion, empty when they may."""
    proposal = permitted.opinion_wanted(item)
    if proposal is None:
        return ""
    if proposal.actor_id == to.pk:
        return gettext(OWN_DECISION)
    if to.has_perm(SECOND):
        return ""
    return gettext("{name} may not give a second opinion.").format(name=selectors.name_of(to))


def _hand_to(item_id: UUID, actor: User, *, to: User, until: datetime) -> ReviewItem:
    def step(item: ReviewItem) -> Mapping[str, Any]:
        if item.state == ReviewState.DECIDED.value:
            raise ClaimRefused(gettext(DECIDED))
        return _claimed(item, to, until=until)

    return _change(item_id, actor, step)


def _claimed(item: ReviewItem, to: User, *, until: datetime) -> Mapping[str, Any]:
    problem = opinion_problem(item, to)
    if problem:
        raise ClaimRefused(problem)
    return {"state": ReviewState.CLAIMED.value, "claimed_by": to, "claimed_until": until}


def _change(item_id: UUID, actor: User, step: Step) -> ReviewItem:
    """Set the values that ``step`` returns on an item; try again where somebody was faster.

    A previous holder leaves the citizen's conversation.
    """
    while True:
        item = _locked(item_id, actor)
        values = step(item)
        unchanged = ReviewItem.objects.filter(pk=item.pk, version=item.version)
        if unchanged.update(version=item.version + 1, **values):
            for name, value in {**values, "version": item.version + 1}.items():
                setattr(item, name, value)
            takeovers.left(item=item.pk, holder=item.claimed_by_id, how=Ended.CLAIM_LOST)
            return item


def _locked(item_id: UUID, actor: User) -> ReviewItem:
    item = scope.visible(actor).get(pk=item_id)
    Turn.objects.select_for_update().only("pk").get(pk=item.turn_id)
    return scope.visible(actor).select_related("claimed_by", "turn").get(pk=item_id)


def _require_free(item: ReviewItem) -> None:
    if item.state == ReviewState.DECIDED.value:
        raise ClaimRefused(gettext(DECIDED))
    if selectors.is_held(item, timezone.now()):
        # A held item has a claim with an end, or it would count as free.
        assert item.claimed_until is not None  # noqa: S101
        raise ClaimTaken(selectors.name_of(item.claimed_by), item.claimed_until)


def _require_held(item: ReviewItem, actor: User) -> None:
    """Raise unless the actor claimed the item last, even when the claim ran out and is free."""
    if item.state == ReviewState.CLAIMED.value and item.claimed_by_id == actor.pk:
        return
    _require_free(item)
    raise ClaimRefused(gettext(NOT_YOURS))


def _require(actor: User, permission: str) -> None:
    if not actor.has_perm(permission):
        raise PermissionDenied(f"{actor} lacks {permission}")


def _claim_time() -> timedelta:
    return timedelta(minutes=settings.IEIM_CLAIM_MINUTES)


def _audit(item: ReviewItem, kind: str, actor: User, *, to: User | None = None) -> None:
    payload: dict[str, Any] = {
        "item": str(item.pk),
        "turn": str(item.turn_id),
        "version": item.version,
    }
    if to is not None:
        payload["to"] = to.get_username()
    audit.record(
        chain=item.turn.session_id,
        kind=kind,
        actor=actor.actor,
        payload=payload,
    )

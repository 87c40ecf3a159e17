"""Claims on items: taking, renewing, releasing and assigning them, and putting them away.

Every change holds the rows of the turn and of the item (:func:`review.deciding.locking.locked`). A
claim that ran out counts as free, so no job has to end it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

from ieim.audit import services as audit
from ieim.audit.canonical import instant
from ieim.people.models import User
from ieim.people.reading import forget
from review import scope
from review.board.models import Absence
from review.crisis import is_crisis, of_refusal
from review.deciding import locking, permitted, signing
from review.deciding.locking import ASSIGNED, DECIDE, NO_CLAIM, SECOND, SUPERVISE
from review.models import Decision, ReviewItem
from review.reading import READ
from review.states import ReviewState

DECIDED = gettext_noop("This item has been decided already.")
NOT_YOURS = gettext_noop("You do not have this item any more. Claim it again before you go on.")
NOT_AWAY = gettext_noop(
    "An item in crisis, one that a model refused to read, or one whose decision waits for others "
    "is not put away. Give it back."
)
LONGEST_SNOOZE = timedelta(days=30)
OWN_DECISION = gettext_noop("You decided this item yourself. Somebody else has to look at it now.")


class ClaimRefused(Exception):
    """A claim that is refused; the message says why. Nothing was changed."""


class ClaimTaken(ClaimRefused):
    """Somebody else has the item: ``by`` (a name) until ``until``."""

    def __init__(self, by: str, until: datetime) -> None:
        message = gettext("{name} has this item until {time}.")
        super().__init__(message.format(name=by, time=f"{timezone.localtime(until):%H:%M}"))
        self.by, self.until = by, until


@transaction.atomic
def claim(*, item_id: UUID, actor: User) -> ReviewItem:
    """Claim a free item, or one whose claim ran out; the actor's own claim is renewed.

    Raises:
        ClaimRefused: somebody else has it, or it cannot be claimed.
        PermissionDenied: without the right to decide.
        ReviewItem.DoesNotExist: for an item that the actor may not see.
    """
    item = _locked(item_id, actor, DECIDE)
    if item.holder(timezone.now()) == actor:
        return _renewed(item)
    _require_free(item)
    _assign(item, to=actor, until=locking.claim_end())
    _audit(item, "review.claimed", actor)
    return item


@transaction.atomic
def renew(*, item_id: UUID, actor: User) -> ReviewItem:
    """Let the actor's claim hold for longer. A claim that ran out comes back while it is free.

    This is no change to others, so the version stays and there is no audit event. Raises like
    :func:`claim`.
    """
    item = _locked(item_id, actor, DECIDE)
    _require_held(item, actor)
    return _renewed(item)


@transaction.atomic
def release(*, item_id: UUID, actor: User) -> ReviewItem:
    """Give the actor's claim back. Raises like :func:`claim`."""
    item = _locked(item_id, actor, DECIDE)
    _require_held(item, actor)
    give_back(item, actor)
    return item


def give_back(item: ReviewItem, actor: User | None) -> None:
    """End the claim on an item that the caller has locked; the actor is None for the system."""
    locking.advance(item, state=signing.waiting_state(item), **NO_CLAIM)
    _audit(item, "review.released", actor)


@transaction.atomic
def snooze(
    *, item_id: UUID, actor: User, until: datetime, is_confirmed: bool = False
) -> ReviewItem:
    """Put an item away until a time, or until its citizen writes, and give the claim back.

    ``is_confirmed``: the actor knows that it is due before. Raises like :func:`claim`.
    """
    item, now = _locked(item_id, actor, DECIDE), timezone.now()
    _require_held(item, actor)
    state = signing.waiting_state(item)
    if is_crisis(item) or of_refusal(item) or state != ReviewState.OPEN:
        raise ClaimRefused(gettext(NOT_AWAY))
    if not now < until <= now + LONGEST_SNOOZE:
        message = gettext("Choose a time that is still to come, at most {days} days away.")
        raise ClaimRefused(message.format(days=LONGEST_SNOOZE.days))
    if until > item.due_at and not is_confirmed:
        message = gettext("It is due {time}, before that. Confirm that you put it away for longer.")
        due = date_format(timezone.localtime(item.due_at), "j F, H:i")
        raise ClaimRefused(message.format(time=due))
    locking.advance(item, state=state, snoozed_at=now, snoozed_until=until, **NO_CLAIM)
    _audit(item, "review.snoozed", actor, until=instant(until))
    return item


@transaction.atomic
def take_over(*, item_id: UUID, actor: User) -> ReviewItem:
    """Claim an item whoever has it, as a supervisor. Raises like :func:`claim`."""
    item = _locked(item_id, actor, SUPERVISE)
    _assign(item, to=actor, until=locking.claim_end())
    _audit(item, "review.taken_over", actor)
    return item


@transaction.atomic
def assign(*, item_id: UUID, to: User, actor: User) -> ReviewItem:
    """Give an item to a colleague, whoever has it.

    It is theirs until it is due, and for as long as a claim at least. Raises like :func:`claim`,
    and :class:`ClaimRefused` where the colleague may not have it.
    """
    item = _locked(item_id, actor, SUPERVISE)
    if not to.is_active or not to.has_perm(DECIDE):
        raise ClaimRefused(gettext("{name} may not decide items.").format(name=to.display_name))
    if not scope.sees(to, item):
        message = gettext("{name} does not work for an item’s agency.")
        raise ClaimRefused(message.format(name=to.display_name))
    if absence := Absence.objects.filter(user=to, until__gt=timezone.now()).first():
        day = date_format(timezone.localtime(absence.until), "j F Y")
        message = gettext("{name} is absent until {day}. Choose somebody else.")
        raise ClaimRefused(message.format(name=to.display_name, day=day))
    _assign(item, to=to, until=max(locking.claim_end(), item.due_at))
    _audit(item, ASSIGNED, actor, to=to.get_username())
    forget(READ, [item.pk], to)  # that they open it from now on is to be seen
    return item


def opinion_problem(proposal: Decision | None, to: User) -> str:
    """Return why ``to`` may not have an item whose decision ``proposal`` waits for an opinion (None
    where none does), empty when they may."""
    if proposal is None:
        return ""
    if proposal.actor_id == to.pk:
        return gettext(OWN_DECISION)
    if to.has_perm(SECOND):
        return ""
    return gettext("{name} may not give a second opinion.").format(name=to.display_name)


def _assign(item: ReviewItem, *, to: User, until: datetime) -> None:
    _require_undecided(item)
    if problem := opinion_problem(permitted.opinion_wanted(item), to):
        raise ClaimRefused(problem)
    claim = {"claimed_by": to, "claimed_until": until, "snoozed_until": None}
    locking.advance(item, state=ReviewState.CLAIMED, **claim)


def _renewed(item: ReviewItem) -> ReviewItem:
    until = locking.claim_end()
    if item.claimed_until is None or item.claimed_until < until:
        item.claimed_until = until
        item.save(update_fields=["claimed_until"])
    return item


def _locked(item_id: UUID, actor: User, permission: str) -> ReviewItem:
    if not actor.has_perm(permission):
        raise PermissionDenied(f"{actor} lacks {permission}")
    return locking.find(item_id, actor, lock=True)


def _require_free(item: ReviewItem) -> None:
    _require_undecided(item)
    holder = item.holder(timezone.now())
    if holder is not None and item.claimed_until is not None:
        raise ClaimTaken(holder.display_name, item.claimed_until)


def _require_undecided(item: ReviewItem) -> None:
    if item.state in (ReviewState.DECIDED.value, ReviewState.SENDING.value):
        raise ClaimRefused(gettext(DECIDED))


def _require_held(item: ReviewItem, actor: User) -> None:
    """Raise unless the actor claimed the item last, even when the claim ran out and is free."""
    if item.state == ReviewState.CLAIMED.value and item.claimed_by_id == actor.pk:
        return
    _require_free(item)
    raise ClaimRefused(gettext(NOT_YOURS))


def _audit(item: ReviewItem, kind: str, actor: User | None, **fields: str) -> None:
    payload: dict[str, Any] = {
        "item": str(item.pk),
        "turn": str(item.turn_id),
        "version": item.version,
        **fields,
    }
    by = actor.actor if actor else "system"
    audit.record(chain=item.turn.session_id, kind=kind, actor=by, payload=payload)

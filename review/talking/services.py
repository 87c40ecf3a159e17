"""Writes of a takeover, by who has claimed an item of the conversation."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations.models import Line, Session, Takeover
from conversations.person import takeovers
from conversations.person.models import Ended
from conversations.turns import erasing
from conversations.turns.locking import locked
from ieim.people.models import User
from ieim.pipeline.topology import AWAITED
from review.claims import services as claims
from review.corrections.records import actor_of
from review.deciding import texts
from review.deciding.errors import Refused
from review.deciding.locking import DECIDE
from review.models import ReviewItem
from review.scope import reach

TAKEN = gettext_noop("A colleague is in this conversation already.")
ENDED = gettext_noop(
    "You are not in this conversation any more: the assistant answers again. Take it over anew."
)
NOBODY_WAITS = gettext_noop("No citizen waits for this item, so there is nobody to talk to.")


class CannotTalk(Exception):
    """It cannot be said, or nobody can be talked to; ``message`` says why. Nothing was changed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@transaction.atomic
def begin(*, item_id: UUID, actor: User) -> Takeover:
    """Take a citizen's conversation over; the item is claimed where it is free.

    Raises :class:`CannotTalk`, what :func:`review.claims.services.claim` raises, and
    ``ReviewItem.DoesNotExist`` outside the actor's agencies.
    """
    session, item = _held(item_id, actor)
    if item.stage not in AWAITED:
        raise CannotTalk(gettext(NOBODY_WAITS))
    try:
        return takeovers.begin(session=session, item=item.pk, by=actor, until=_until(item))
    except takeovers.AlreadyTaken as error:
        raise CannotTalk(gettext(TAKEN)) from error


@transaction.atomic
def say(*, item_id: UUID, actor: User, text: str) -> Line:
    """Say something to the citizen. Raises as :func:`begin`."""
    session, item = _held(item_id, actor)
    try:
        said = texts.checked(item.turn, text)
        return takeovers.say(
            session_id=session.pk, item=item.pk, by=actor, text=said, until=_until(item)
        )
    except Refused as refused:
        raise CannotTalk(refused.message) from refused
    except takeovers.NotTalking as error:
        raise CannotTalk(gettext(ENDED)) from error


@transaction.atomic
def hand_back(*, item_id: UUID, actor: User) -> None:
    """Let the assistant answer again; once more is no change. Raises as :func:`begin`."""
    if not actor.has_perm(DECIDE):
        raise PermissionDenied
    item = reach.visible(actor).get(pk=item_id)
    how, by = Ended.HANDED_BACK, actor_of(actor)
    takeovers.end(how=how, actor=by, item=item.pk, by_id=actor.pk)


def _held(item_id: UUID, actor: User) -> tuple[Session, ReviewItem]:
    """Return a session, locked, and an item of it that the actor has claimed, locked as well."""
    if not actor.has_perm(DECIDE):
        raise PermissionDenied
    found = reach.visible(actor).values_list("turn__session_id", flat=True).get(pk=item_id)
    # The session first, as a message does.
    session = locked(Session.objects.all()).get(pk=found)
    if erasing.is_erased(session):
        raise ReviewItem.DoesNotExist(str(item_id))
    return session, claims.claim(item_id=item_id, actor=actor)


def _until(item: ReviewItem) -> datetime:
    """Return when the actor's claim ends."""
    return item.claimed_until or timezone.now()

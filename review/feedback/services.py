"""Writes: making a review item of what a citizen said of an answer."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from conversations.models import Feedback, Session
from conversations.turns.locking import locked
from ieim.audit import services as audit
from ieim.people.models import User
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import REPLY
from review import services
from review.feedback.selectors import visible
from review.models import ReviewItem


@transaction.atomic
def make_item(*, turn_id: UUID, by: User) -> ReviewItem:
    """Open a review item for a turn's reply because of what its citizen said of it.

    An undecided one is returned as it is, with that reason added. The citizen has their answer:
    nothing waits for the item, and no decision on it changes what they read. Raises
    ``Feedback.DoesNotExist`` for what the user may not see, also once it was erased.
    """
    said = visible(by).select_related("reply__turn").get(reply__turn=turn_id)
    session_id = said.reply.turn.session_id
    # Erasing holds the same row: no item is opened after it.
    locked(Session.objects.all()).get(pk=session_id)
    if not Feedback.objects.filter(pk=said.pk).exists():
        raise Feedback.DoesNotExist(str(turn_id))
    codes = [Code.CITIZEN_FEEDBACK.value]
    item = services.open_item(turn_id=turn_id, stage=REPLY, codes=codes)
    audit.record(
        chain=session_id,
        kind="review.feedback",
        actor=by.actor,
        payload={"turn": str(turn_id), "item": str(item.pk), "reason": said.reason},
    )
    return item

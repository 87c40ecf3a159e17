"""Who has read what a citizen wrote: an event of the conversation, of lists one of the staff's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.db import transaction

from ieim.audit import services as audit
from ieim.people.models import User
from ieim.people.reading import note_listed, remember, unread
from review.models import ReviewItem

READ: Final = "review.read"
"""The kind of the event of an item that was opened."""
LISTED: Final = "review.listed"
"""The kind of the event of rows of the queue, which begin with the message."""
FEEDBACK_LISTED: Final = "review.feedback_listed"
"""The kind of the event of a page of citizens' feedback."""


def note(item: ReviewItem, by: User) -> None:
    """Record that a member of staff reads an item or its conversation, once an hour.

    Nothing of an erased conversation is read.
    """
    if not unread(READ, [item.pk], by):
        return
    with transaction.atomic():
        audit.record(
            chain=item.turn.session_id,
            kind=READ,
            actor=by.actor,
            payload={"item": str(item.pk), "turn": str(item.turn_id)},
        )
    remember(READ, [item.pk], by)


def note_rows(items: Iterable[UUID], by: User) -> None:
    """Record that rows of the queue are shown: one event a page, each row once an hour."""
    note_listed(LISTED, "items", items, by)


def note_feedback(turns: Iterable[UUID], by: User) -> None:
    """Record that citizens' feedback and the messages before it are shown, by turn."""
    note_listed(FEEDBACK_LISTED, "turns", turns, by)

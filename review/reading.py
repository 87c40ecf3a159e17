"""Audit events of reading a citizen's words: of an item in its conversation, of lists apart."""

from __future__ import annotations

from typing import Final

from django.db import transaction

from ieim.audit import services as audit
from ieim.people.models import User
from ieim.people.reading import remember, unread
from review.models import ReviewItem

READ: Final = "review.read"
"""The kind of the event of an item that was opened."""
LISTED: Final = "review.listed"
"""The kind of the event of rows of the queue, which begin with the message; it names items."""
FEEDBACK_LISTED: Final = "review.feedback_listed"
"""The kind of the event of a page of citizens' feedback, with their messages; it names turns."""

SAMPLE_READ: Final = "quality.read"
"""The kind of the event of an answer of the sample that was opened; it names samples."""
ANSWERS_LISTED: Final = "quality.listed"
"""The kind of the event of what was said of somebody’s own answers; it names turns."""


def record_read(item: ReviewItem, by: User) -> None:
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

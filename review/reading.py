"""Who has read what a citizen wrote: an event of the conversation's own chain."""

from __future__ import annotations

from typing import Final

from django.core.cache import cache
from django.db import transaction

from ieim.audit import services as audit
from ieim.people.models import User
from review.models import ReviewItem

AGAIN: Final = 3600
"""Seconds in which further looks of the same person are the same reading."""


def note(item: ReviewItem, by: User) -> None:
    """Record that a member of staff reads an item, once an hour.

    A cache that is away lets every look be recorded; nothing of an erased conversation is read.
    """
    key = f"ieim.read.{item.pk}.{by.pk}"
    try:
        is_new = cache.add(key, True, timeout=AGAIN)
    except Exception:  # noqa: BLE001  # whatever the cache raises: rather twice than not at all
        is_new = True
    if not is_new:
        return
    with transaction.atomic():
        audit.record(
            chain=item.turn.session_id,
            kind="review.read",
            actor=by.actor,
            payload={"item": str(item.pk), "turn": str(item.turn_id)},
        )

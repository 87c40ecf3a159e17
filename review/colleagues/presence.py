"""Who has an item open, and hints to those pages that the item has changed.

Presence lives in the cache and is no truth: an entry that is not renewed is over after
:data:`SILENT` seconds, and one that is lost comes back with the next heartbeat.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db import transaction

from conversations import notify
from ieim.people.models import User

SILENT: Final = 12
"""Seconds after the last heartbeat until somebody is not shown any more."""


def group_name(item_id: UUID) -> str:
    """Return the channel group of an item's open pages."""
    return f"item.{item_id.hex}"


def present(item_id: UUID) -> dict[int, Mapping[str, Any]]:
    """Return who has an item open, by the key of their account: ``name``, ``writes`` and ``at``."""
    entries: dict[int, Mapping[str, Any]] = cache.get(_key(item_id)) or {}
    return {pk: entry for pk, entry in entries.items() if time.time() - entry["at"] < SILENT}


def beat(item_id: UUID, user: User, *, writes: bool) -> bool:
    """Store that a user has an item open; whether that, or that they write, is new to others."""
    entries = present(item_id)
    before = entries.get(user.pk)
    entries[user.pk] = {"name": user.display_name, "writes": writes, "at": time.time()}
    cache.set(_key(item_id), entries, SILENT)
    return before is None or before["writes"] != writes


def leave(item_id: UUID, user_id: int) -> None:
    """Store that a user has closed an item."""
    entries = present(item_id)
    entries.pop(user_id, None)
    cache.set(_key(item_id), entries, SILENT)


def announce_change(item_id: UUID) -> None:
    """Hint to an item's open pages, once it is committed, that the item has changed."""
    message = {"type": "item.changed"}
    transaction.on_commit(partial(notify.send, group_name(item_id), message))


def _key(item_id: UUID) -> str:
    return f"present.{item_id.hex}"

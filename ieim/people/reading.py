"""Audit events of staff reading citizens' words, each once an hour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Final

from django.core.cache import cache
from django.db import transaction

from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people.models import User

AGAIN: Final = 3600
"""Seconds in which further views by the same person are the same reading."""
MOST: Final = 200
"""The most ids in one event; the rest goes into further events."""


def unread(kind: str, ids: Iterable[object], by: User) -> list[str]:
    """Return the ids that a person has not read within the hour.

    Without a cache every view counts: a reading is recorded twice rather than not at all.
    """
    keys = {_key(kind, id_, by): str(id_) for id_ in ids}
    cached: Mapping[str, object] = {}
    with suppress(Exception):  # whatever the cache raises: see above
        cached = cache.get_many(keys)
    return [id_ for key, id_ in keys.items() if key not in cached]


def remember(kind: str, ids: Iterable[object], by: User) -> None:
    """Store what was recorded as read. Called after recording: a failure must hide no reading."""
    with suppress(Exception):  # as in unread()
        cache.set_many({_key(kind, id_, by): True for id_ in ids}, timeout=AGAIN)


def forget(kind: str, ids: Iterable[object], by: User) -> None:
    """Let the next view by a person be recorded, though they have read it within the hour."""
    with suppress(Exception):  # as in unread()
        cache.delete_many([_key(kind, id_, by) for id_ in ids])


def record_listed(kind: str, name: str, ids: Iterable[object], by: User) -> None:
    """Record that a person is shown a list with citizens' words, in the staff's chain.

    The event of ``kind`` has under ``name`` the ids that were not shown there within the hour; a
    list with nothing new costs no statement. An id reveals nothing of what is erased later.
    """
    new = unread(kind, ids, by)
    for start in range(0, len(new), MOST):
        payload: dict[str, JSONValue] = {name: new[start : start + MOST]}
        with transaction.atomic():
            record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=by.actor)
    remember(kind, new, by)


def _key(kind: str, id_: object, by: User) -> str:
    # Names may have characters that are invalid in a cache's keys.
    return f"ieim.read.{sha256(f'{kind} {id_} {by.actor}'.encode()).hexdigest()}"

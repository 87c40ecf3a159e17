"""Which citizens' words a member of staff is shown: once an hour each is an event."""

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
"""Seconds in which further looks of the same person are the same reading."""
MOST: Final = 200
"""Ids that one event names; what is more goes into further events."""


def unread(kind: str, ids: Iterable[object], by: User) -> list[str]:
    """Return those of what a person is about to be shown that they were not within the hour.

    A cache that is away lets every look count: rather twice than not at all.
    """
    wanted = {_key(kind, each, by): str(each) for each in ids}
    known: Mapping[str, object] = {}
    with suppress(Exception):  # whatever the cache raises: see above
        known = cache.get_many(wanted)
    return [each for key, each in wanted.items() if key not in known]


def remember(kind: str, ids: Iterable[object], by: User) -> None:
    """Note what was recorded as read: only after it was, or a failure would hide a reading."""
    with suppress(Exception):  # as in unread()
        cache.set_many({_key(kind, each, by): True for each in ids}, timeout=AGAIN)


def note_listed(kind: str, name: str, ids: Iterable[object], by: User) -> None:
    """Record that a person is shown a list with citizens' words: an event of the staff's chain.

    It is called ``kind``, and has under ``name`` the ids of what was not shown there within the
    hour; a list with nothing new makes none and costs no statement. Ids alone: of what is erased
    later they say nothing.
    """
    shown = unread(kind, ids, by)
    for start in range(0, len(shown), MOST):
        payload: dict[str, JSONValue] = {name: shown[start : start + MOST]}
        with transaction.atomic():
            record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=by.actor)
    remember(kind, shown, by)


def _key(kind: str, each: object, by: User) -> str:
    # Names may have what a cache's keys must not.
    return f"ieim.read.{sha256(f'{kind} {each} {by.actor}'.encode()).hexdigest()}"

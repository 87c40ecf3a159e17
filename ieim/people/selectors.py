"""Reads: rights that wait for a second administrator, that one gave alone, and how new they are."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.people.models import Grant, User

TOLD: Final = timedelta(days=30)
"""How long supervisors read of rights that one administrator gave alone."""
NEW: Final = timedelta(days=1)
"""How long an account or its rights are new."""
_GIVEN: Final = frozenset(
    {"active", "superuser", "profile", "roles_given", "permissions_given", "agencies_given"}
)
"""Members of an event's payload by which somebody gets an account, or rights."""


def waiting() -> QuerySet[Grant]:
    """Return what waits for a second administrator, oldest first."""
    asked = Grant.objects.filter(state=Grant.State.ASKED).order_by("asked_at")
    return asked.select_related("user", "asked_by")


def given_alone() -> QuerySet[Grant]:
    """Return what one administrator gave alone in the last :data:`TOLD`, newest first."""
    since = timezone.now() - TOLD
    found = Grant.objects.filter(state=Grant.State.ALONE, asked_at__gte=since)
    return found.select_related("user", "asked_by")


def sole_giver(user: User, now: datetime) -> str:
    """Return the actor who alone gave somebody their account or rights while they are :data:`NEW`.

    Empty where nothing is new, and where two administrators had a part in it.
    """
    kinds = ("people.user_added", "people.user_changed")
    events = AuditEvent.objects.filter(chain=PEOPLE_CHAIN, kind__in=kinds, at__gt=now - NEW)
    # As it stands in canonical JSON: an import of thousands is not read for one of them.
    events = events.filter(payload__contains=f'"user":{user.pk},')
    givers: set[str] = set()
    for actor, payload in events.values_list("actor", "payload"):
        change = json.loads(payload)
        if change["user"] == user.pk and any(change.get(member) for member in _GIVEN):
            # Without the token by which a program acted for them.
            givers |= {actor.partition("/")[0], str(change.get("asked_by", "system"))}
    givers -= {"system", f"staff:{user.get_username()}"}
    return givers.pop() if len(givers) == 1 else ""

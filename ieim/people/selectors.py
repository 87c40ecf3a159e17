"""Reads: who has just given somebody an account or rights."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Final

from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.people.models import User

NEW: Final = timedelta(days=1)
"""How long an account or its rights are new."""
_GIVEN: Final = frozenset(
    {
        *("active", "superuser", "profile", "password"),
        *("roles_given", "permissions_given", "agencies_given"),
    }
)
"""Members of an event's payload that mean a new account, new rights or a way into it: of others, a
password changes only where a link to set one was shown."""


def sole_giver(user: User, now: datetime) -> str:
    """Return the actor who alone gave somebody their account or rights while they are :data:`NEW`,
    "" if nothing is new or two administrators have given something."""
    kinds = ("people.user_added", "people.user_changed")
    events = AuditEvent.objects.filter(chain=PEOPLE_CHAIN, kind__in=kinds, at__gt=now - NEW)
    # A part of canonical JSON: an import of thousands is not parsed for one of them.
    events = events.filter(payload__contains=f'"user":{user.pk},')
    givers: set[str] = set()
    for actor, payload in events.values_list("actor", "payload"):
        change = json.loads(payload)
        if change["user"] == user.pk and any(change.get(name) for name in _GIVEN):
            # Without the token by which a program acted for them.
            givers |= {actor.partition("/")[0], str(change.get("asked_by", "system"))}
    givers -= {"system", f"staff:{user.get_username()}"}
    return givers.pop() if len(givers) == 1 else ""

"""Retention: what is kept for so many days and no longer, a setting for each kind of data.

``settings.IEIM_KEEP`` has the days (None: no end). A conversation is erased by the same service as
by its citizen's own button, so that what is left of it is the same. A run ends with one event of
the system chain, :data:`APPLIED`: counts by kind, and no word of anybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session as StaffSession
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from conversations import ports
from conversations.models import Correction, Delivery, Line, Outage, Session, Takeover, Turn
from conversations.states import PENDING_TURN_STATES, TurnState
from conversations.turns import erasing
from conversations.turns.locking import locked
from ieim.audit import services as audit
from ieim.audit.canonical import JSONValue
from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.people import lockout

APPLIED = "retention.applied"
BATCH = 1000
"""Conversations that one run erases: what is more is for the next run."""

_OPEN = [state.value for state in (*PENDING_TURN_STATES, TurnState.ASKING, TurnState.NEEDS_REVIEW)]


def apply(*, now: datetime | None = None) -> dict[str, int] | None:
    """Erase what is over its time; None where that was done today already.

    Returns how many there were of each kind. A run that was cut off, or had more to do than
    :data:`BATCH`, is gone on with by the next one; two at once erase nothing twice.
    """
    now = now or timezone.now()
    if _is_done(now):
        return None
    sessions = _overdue(now).filter(~_waits()).order_by("created_at")
    ids = list(sessions.values_list("pk", flat=True)[:BATCH])
    erased = {"conversations": sum(_erase(session_id, now) for session_id in ids)}
    with transaction.atomic():
        # Whoever else applies it waits here, and then sees the event of this run.
        audit.lock_head(SYSTEM_CHAIN)
        erased |= {
            kind: delete(before)
            for kind, delete in DELETE.items()
            if (before := _before(kind, now)) is not None
        }
        erased["staff_sessions"] = _delete(StaffSession, "expire_date", now)
        # Where a session was used from stands beside it, also of somebody who never comes back.
        over = now - timedelta(seconds=settings.SESSION_COOKIE_AGE)
        _delete(UserSession, "last_seen_at", over)
        if any(erased.values()) or not _is_done(now):
            payload: dict[str, JSONValue] = {
                "erased": erased,
                "days": settings.IEIM_KEEP,
                "waiting": _overdue(now).filter(_waits()).count(),
                "more": len(ids) == BATCH,
            }
            audit.record_system(kind=APPLIED, payload=payload, actor="system")
    return erased


def _is_done(now: datetime) -> bool:
    """Whether the last run was today, by the clock of the office, and left nothing over."""
    last = AuditEvent.objects.filter(kind=APPLIED).order_by("-at", "-id").first()
    same_day = last is not None and timezone.localdate(last.at) == timezone.localdate(now)
    return last is not None and same_day and not json.loads(last.payload)["more"]


def _overdue(now: datetime) -> QuerySet[Session]:
    """Return the conversations in which nothing has happened for longer than they are kept."""
    decided = Q(pk__in=ports.reviews().decided_sessions())
    over = Q(pk__in=[])
    for kind, which in (("conversations", ~decided), ("decided", decided)):
        before = _before(kind, now)
        if before is not None:
            over |= which & Q(created_at__lt=before) & ~_happened(before)
    return Session.objects.exclude(erasing.ERASED_SESSIONS).filter(over)


def _happened(since: datetime) -> Q:
    happened = Q()
    for model, moment in _MOMENTS:
        rows = model._default_manager.filter(session=OuterRef("pk"), **{f"{moment}__gte": since})
        happened |= Q(Exists(rows))
    return happened


_MOMENTS: tuple[tuple[Any, str], ...] = (
    (Turn, "updated_at"),
    (Line, "at"),
    (Correction, "created_at"),
)


def _waits() -> Q:
    """Whether a citizen still waits for something: a question of theirs is not erased unanswered,
    nor a conversation under the hands of who has it."""
    turns = Turn.objects.filter(session=OuterRef("pk"), state__in=_OPEN)
    talks = Takeover.objects.filter(session=OuterRef("pk"), ended_at=None)
    return Q(Exists(turns)) | Q(Exists(talks))


@transaction.atomic
def _erase(session_id: UUID, now: datetime) -> bool:
    """Erase one conversation; False where meanwhile it is erased, or something happened in it."""
    locked(Session.objects.filter(pk=session_id)).get()
    if not _overdue(now).filter(~_waits(), pk=session_id).exists():
        return False
    return erasing.erase_session(session_id=session_id, actor="system") is not None


def _delete(model: Any, moment: str, before: datetime) -> int:
    count, _ = model.objects.filter(**{f"{moment}__lt": before}).delete()
    return int(count)


DELETE: Final[dict[str, Callable[[datetime], int]]] = {
    "deliveries": partial(_delete, Delivery, "given_up_at"),
    "outages": partial(_delete, Outage, "ended_at"),
    "sign_ins": lockout.forget,
}
"""By kind, what deletes all of it that was over before a moment; :mod:`ieim.config.wiring` adds
those from above."""


def _before(kind: str, now: datetime) -> datetime | None:
    days = settings.IEIM_KEEP[kind]
    return None if days is None else now - timedelta(days=days)

"""The sweeper: finds turns that a broker, a worker or a process forgot, choices that nobody makes,
takeovers in which nothing is said any more, what webhooks have not been told, and outages that
operators have not been told of."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from conversations.models import Turn
from conversations.outages import alerts
from conversations.person import takeovers
from conversations.states import TurnState
from conversations.turns import choosing, moves, triage
from conversations.webhooks import delivering

QUEUED_TOO_LONG = timedelta(seconds=5)


def sweep(*, now: datetime | None = None, at_start: bool = False) -> None:
    """Queue again every turn that the broker forgot, a worker dropped, or a retry is due for.

    ``at_start`` is for a process that is the only worker: every lease is then a dead one. Each turn
    is moved by compare-and-set, so two sweepers at once do no harm.
    """
    now = now or timezone.now()
    running = Turn.objects.filter(state=TurnState.RUNNING.value)
    dead = running if at_start else running.filter(leased_until__lt=now)
    _requeue(dead, now)
    stale = now if at_start else now - QUEUED_TOO_LONG
    _requeue(Turn.objects.filter(state=TurnState.QUEUED.value, queued_at__lte=stale), now)
    due = Turn.objects.filter(state=TurnState.AWAITING_MODEL.value, retry_at__lte=now)
    for turn_id in due.values_list("pk", flat=True):
        moves.queue(turn_id)
    triage.sweep(now=now, at_start=at_start)
    choosing.expire(now=now)
    takeovers.expire(now=now)
    delivering.sweep(now=now)
    alerts.sweep(now=now)


def _requeue(turns: QuerySet[Turn], now: datetime) -> None:
    for turn_id, queued_at, lease in list(turns.values_list("pk", "queued_at", "lease")):
        mine = turns.filter(pk=turn_id, queued_at=queued_at, lease=lease).update(
            state=TurnState.QUEUED.value, queued_at=now, lease=None, leased_until=None
        )
        if mine:
            moves.queue(turn_id)

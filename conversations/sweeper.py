"""The sweeper: finds turns that a broker, a worker or a process forgot, choices that nobody makes,
takeovers in which nothing is said any more, what webhooks have not been told, and outages that
operators have not been told of."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.core.cache import cache
from django.db.models import QuerySet
from django.utils import timezone

from conversations.models import Turn
from conversations.outages import alerts
from conversations.person import takeovers
from conversations.states import TurnState
from conversations.turns import choosing, moves, triage
from conversations.turns.executor import release_connection
from conversations.webhooks import delivering

QUEUED_TOO_LONG = timedelta(seconds=5)

_KEY: Final = "sweeps"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """The runs of one sweep since the cache was last emptied.

    ``seconds`` is the sum over all runs, ``failed_at`` the Unix time of the last failure (0 before
    the first), ``error`` the exception's name where the last run failed, else empty.
    """

    runs: int = 0
    failures: int = 0
    seconds: float = 0.0
    failed_at: float = 0.0
    error: str = ""


def sweep(*, now: datetime | None = None, at_start: bool = False) -> None:
    """Queue again every turn that the broker forgot, a worker dropped, or a retry is due for.

    ``at_start`` is for a process that is the only worker: every lease is then a dead one. Each turn
    is moved by compare-and-set, so two sweepers at once do no harm. A sweep that raises is logged
    and recorded, and stops no other.
    """
    now = now or timezone.now()
    records = dict(read_records())
    for name, run in SWEEPS.items():
        record, start = records.get(name, Record()), time.monotonic()
        error = ""
        try:
            run(now, at_start)
        except Exception as failure:  # whatever it is: the other sweeps have to run
            error = type(failure).__name__
            # One traceback for a row of failures: a sweep runs every few seconds.
            level = logging.DEBUG if error == record.error else logging.ERROR
            logger.log(level, "The sweep %s failed and is tried again", name, exc_info=True)
            release_connection()
        records[name] = replace(
            record,
            runs=record.runs + 1,
            failures=record.failures + bool(error),
            seconds=record.seconds + time.monotonic() - start,
            failed_at=time.time() if error else record.failed_at,
            error=error,
        )
    with suppress(Exception):  # whatever the cache raises: readiness tells of it
        cache.set(_KEY, records, timeout=None)


def read_records() -> Mapping[str, Record]:
    """Return the record of every sweep by name; empty before the first or without the cache."""
    records: Mapping[str, Record] = {}
    with suppress(Exception):  # whatever the cache raises: readiness tells of it
        records = cache.get(_KEY, {})
    return records


def _requeue_dead(now: datetime, at_start: bool) -> None:
    running = Turn.objects.filter(state=TurnState.RUNNING.value)
    _requeue(running if at_start else running.filter(leased_until__lt=now), now)


def _requeue_forgotten(now: datetime, at_start: bool) -> None:
    stale = now if at_start else now - QUEUED_TOO_LONG
    _requeue(Turn.objects.filter(state=TurnState.QUEUED.value, queued_at__lte=stale), now)


def _queue_retries(now: datetime, _at_start: bool) -> None:
    due = Turn.objects.filter(state=TurnState.AWAITING_MODEL.value, retry_at__lte=now)
    for turn_id in due.values_list("pk", flat=True):
        moves.queue(turn_id)


def _requeue(turns: QuerySet[Turn], now: datetime) -> None:
    for turn_id, queued_at, lease in list(turns.values_list("pk", "queued_at", "lease")):
        mine = turns.filter(pk=turn_id, queued_at=queued_at, lease=lease).update(
            state=TurnState.QUEUED.value, queued_at=now, lease=None, leased_until=None
        )
        if mine:
            moves.queue(turn_id)


SWEEPS: Final[Mapping[str, Callable[[datetime, bool], object]]] = {
    "leases": _requeue_dead,
    "queue": _requeue_forgotten,
    "retries": _queue_retries,
    "triage": lambda now, at_start: triage.sweep(now=now, at_start=at_start),
    "choices": lambda now, _: choosing.expire(now=now),
    "takeovers": lambda now, _: takeovers.expire(now=now),
    "webhooks": lambda now, _: delivering.sweep(now=now),
    "alerts": lambda now, _: alerts.sweep(now=now),
}
"""By name, in the order in which they run; given the time, and whether the process starts."""

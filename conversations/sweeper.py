"""The periodic tasks: each is shielded from the failure of another, timed, and recorded.

The sweeps among them find what a broker, a worker or a process forgot: turns, choices that nobody
makes, takeovers that have gone silent, events for webhooks, e-mails.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.core.cache import cache
from django.db.models import QuerySet
from django.utils import timezone

from conversations.mail import sending
from conversations.models import Turn
from conversations.outages import alerts
from conversations.person import takeovers
from conversations.states import TurnState
from conversations.turns import choosing, moves, triage
from conversations.turns.executor import release_connection
from conversations.webhooks import delivering

QUEUED_TOO_LONG = timedelta(seconds=5)

_KEY: Final = "sweeps"
RETENTION: Final = "retention"

logger = logging.getLogger(__name__)

Sweep = Callable[[datetime, bool], object]
"""Given the time, and whether this process is the only worker and has just started: every lease is
then a dead one."""


@dataclass(frozen=True, slots=True)
class Record:
    """The runs of one periodic task since the cache was last emptied.

    ``seconds`` is the sum over all runs, ``failed_at`` the Unix time of the last failure (0 before
    the first), ``error`` the exception's name where the last run failed, else empty.
    """

    runs: int = 0
    failures: int = 0
    seconds: float = 0.0
    failed_at: float = 0.0
    error: str = ""


def run(name: str, task: Callable[[], object]) -> bool:
    """Run a periodic task and record the run; return whether it succeeded.

    A failure is logged and recorded, and stops nothing else.
    """
    record, start = read_records()[name], time.monotonic()
    error = ""
    try:
        task()
    except Exception as failure:  # whatever it is: the other tasks have to run
        error = type(failure).__name__
        # One traceback for a row of failures: a sweep runs every few seconds.
        level = logging.DEBUG if error == record.error else logging.ERROR
        logger.log(level, "The sweep %s failed and is tried again", name, exc_info=True)
        release_connection()
    record = replace(
        record,
        runs=record.runs + 1,
        failures=record.failures + bool(error),
        seconds=record.seconds + time.monotonic() - start,
        failed_at=time.time() if error else record.failed_at,
        error=error,
    )
    with suppress(Exception):  # whatever the cache raises: readiness tells of it
        cache.set(f"{_KEY}.{name}", record, timeout=None)
    return not error


def sweep(*, now: datetime | None = None, at_start: Collection[str] | bool = False) -> set[str]:
    """Run every sweep; return the names of those that succeeded.

    ``at_start`` is whether each runs as in a process that has just started, or the names of those
    that do. Rows are moved by compare-and-set, so two sweepers at once do no harm.
    """
    now = now or timezone.now()
    starting = SWEEPS if at_start is True else at_start or ()
    return {name for name in SWEEPS if run(name, partial(SWEEPS[name], now, name in starting))}


def read_records() -> dict[str, Record]:
    """Return the record of every periodic task by name; empty ones without the cache."""
    keys = {f"{_KEY}.{name}": name for name in (*SWEEPS, RETENTION)}
    records: Mapping[str, Record] = {}
    with suppress(Exception):  # whatever the cache raises: readiness tells of it
        records = cache.get_many(keys)
    return {name: records.get(key, Record()) for key, name in keys.items()}


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


SWEEPS: Final[dict[str, Sweep]] = {
    "leases": _requeue_dead,
    "queue": _requeue_forgotten,
    "retries": _queue_retries,
    "triage": lambda now, at_start: triage.sweep(now=now, at_start=at_start),
    "choices": lambda now, _: choosing.expire(now=now),
    "takeovers": lambda now, _: takeovers.expire(now=now),
    "webhooks": lambda now, _: delivering.sweep(now=now),
    "alerts": lambda now, _: alerts.sweep(now=now),
    "mail": lambda now, at_start: sending.sweep(now=now, at_start=at_start),
}
"""By name, in the order in which they run; :mod:`ieim.config.wiring` adds those from above."""

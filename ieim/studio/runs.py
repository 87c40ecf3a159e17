"""Long work in a worker: one worker has a run at a time, and a killed one is noticed.

The database decides, the broker is only a hint: the worker of a run writes a heartbeat to it, and a
run without one for a while is queued again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from conversations.queueing import queue_after_commit
from ieim.knowledge.heartbeat import process_heartbeat
from ieim.studio.models import CheckRun, GoldenRun, Run

logger = logging.getLogger(__name__)

TASKS: Mapping[type[Run], str] = {
    GoldenRun: "ieim.studio.tasks.run_golden",
    CheckRun: "ieim.studio.tasks.run_checks",
}
LEASE = timedelta(seconds=15)
"""How long a worker may be silent before its run counts as abandoned."""
SAVE_EVERY = 1.0
"""Seconds between two savings of what is done."""
GOING_ON = (Run.State.QUEUED, Run.State.RUNNING)
OURS = "Our own software failed; the log says how."


class Lost(Exception):
    """Another worker has the run, or it is no longer needed."""


class Failed(Exception):
    """The run cannot go on; the message is a sentence for staff."""


@dataclass
class Claim:
    """A worker's lease of a run, identified by the moment of its last write."""

    model: type[Run]
    run_id: int
    written_at: datetime
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, **values: Any) -> None:
        """Write to the run, and renew the lease. Raises :class:`Lost` where it is gone."""
        with self._lock:
            now = timezone.now()
            leased = self.model._default_manager.filter(
                pk=self.run_id, state=Run.State.RUNNING, updated_at=self.written_at
            )
            if not leased.update(updated_at=now, **values):
                raise Lost
            self.written_at = now

    def renew(self) -> None:
        # The run notices at its next write that it is lost.
        with suppress(Lost):
            self.write()

    def fail(self, sentence: str) -> None:
        self.write(state=Run.State.FAILED, error=sentence)


def work(
    model: type[Run],
    run_id: int,
    do: Callable[[Claim], None],
    fail: Callable[[Claim, str], None] = Claim.fail,
    *,
    error: str = OURS,
) -> None:
    """Claim a run that is queued or abandoned and ``do`` its work, with a heartbeat meanwhile.

    Returns at once when another worker has it or it is over. Never raises: ``fail`` gets the
    sentence of :class:`Failed`, or ``error`` for anything else.
    """
    now = timezone.now()
    free = Q(state=Run.State.QUEUED) | Q(state=Run.State.RUNNING, updated_at__lt=now - LEASE)
    # One compare-and-set: of two workers one wins.
    claimed = model._default_manager.filter(free, pk=run_id)
    if not claimed.update(state=Run.State.RUNNING, updated_at=now):
        return
    claim = Claim(model, run_id, now)
    try:
        try:
            with process_heartbeat.beating(claim.renew):
                do(claim)
        except Failed as failed:
            fail(claim, str(failed))
        except Lost:
            raise
        except Exception:  # Whatever the error is: the run must not stay unfinished for ever.
            logger.exception("%s %s failed", model.__name__, run_id)
            fail(claim, error)
    except Lost:
        logger.warning("%s %s is lost: this worker stops", model.__name__, run_id)


def queue(model: type[Run], run_id: int) -> None:
    """Queue a run's task after the commit; a broker that fails leaves it to the sweeper."""
    # By name: the tasks import what queues them.
    queue_after_commit(TASKS[model], run_id)


def sweep(*, now: datetime | None = None, at_start: bool = False) -> int:
    """Queue every abandoned run again; returns how many.

    ``at_start`` is for a process that is the only worker: every run is then abandoned. Each is
    moved by compare-and-set, so two sweepers at once do no harm.
    """
    now = now or timezone.now()
    count = 0
    for model in TASKS:
        waiting = model._default_manager.filter(state__in=GOING_ON)
        if not at_start:
            waiting = waiting.filter(updated_at__lt=now - LEASE)
        for run_id, seen in list(waiting.values_list("pk", "updated_at")):
            moved = waiting.filter(pk=run_id, updated_at=seen)
            if moved.update(state=Run.State.QUEUED, updated_at=now):
                queue(model, run_id)
                count += 1
    return count

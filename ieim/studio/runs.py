"""Long runs in workers: leases, heartbeats, and a sweep for the runs of killed workers.

The database decides, the broker is only a hint: a worker writes a heartbeat to its run, and a run
without one for :data:`LEASE` is queued again.
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
from ieim.studio.models import CheckRun, DraftingRun, GoldenRun, LinkRun, PageRun, Run

logger = logging.getLogger(__name__)

TASKS: Mapping[type[Run], str] = {
    GoldenRun: "ieim.studio.tasks.run_golden",
    CheckRun: "ieim.studio.tasks.run_checks",
    DraftingRun: "ieim.studio.tasks.run_drafting",
    LinkRun: "ieim.studio.tasks.run_link_check",
    PageRun: "ieim.studio.tasks.run_pages",
}
LEASE = timedelta(seconds=15)
"""Without a heartbeat for so long a run counts as abandoned."""
SAVE_EVERY = 1.0
"""Seconds between two writes of the progress."""
UNFINISHED_STATES = (Run.State.QUEUED, Run.State.RUNNING)
INTERNAL_ERROR = "Our own software failed; the log says how."


class LeaseLost(Exception):
    """Another worker has the run, or it was deleted."""


class RunFailed(Exception):
    """The run cannot continue; the message is a sentence for staff."""


@dataclass
class Claim:
    """A worker's lease of a run, identified by the time of its last write."""

    model: type[Run]
    run_id: int
    written_at: datetime
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, **values: Any) -> None:
        """Write to the run and renew the lease.

        Raises:
            LeaseLost: another worker has the run, or it was deleted.
        """
        with self._lock:
            now = timezone.now()
            leased = self.model._default_manager.filter(
                pk=self.run_id, state=Run.State.RUNNING, updated_at=self.written_at
            )
            if not leased.update(updated_at=now, **values):
                raise LeaseLost
            self.written_at = now

    def renew(self) -> None:
        # The run notices at its next write that it is lost.
        with suppress(LeaseLost):
            self.write()

    def fail(self, sentence: str) -> None:
        self.write(state=Run.State.FAILED, error=sentence)


def execute(
    model: type[Run],
    run_id: int,
    do: Callable[[Claim], None],
    fail: Callable[[Claim, str], None] = Claim.fail,
    *,
    error: str = INTERNAL_ERROR,
) -> None:
    """Claim a run that is queued or abandoned, and ``do`` its work under a heartbeat.

    Returns at once if another worker has the run or it is finished. Never raises: ``fail`` gets the
    sentence of :class:`RunFailed`, or ``error`` for anything else.
    """
    now = timezone.now()
    claimable = Q(state=Run.State.QUEUED) | Q(state=Run.State.RUNNING, updated_at__lt=now - LEASE)
    # One compare-and-set: of two workers one wins.
    runs = model._default_manager.filter(claimable, pk=run_id)
    if not runs.update(state=Run.State.RUNNING, updated_at=now):
        return
    claim = Claim(model, run_id, now)
    try:
        try:
            with process_heartbeat.beating(claim.renew):
                do(claim)
        except RunFailed as failed:
            fail(claim, str(failed))
        except LeaseLost:
            raise
        except Exception:  # Whatever the error is: the run must not stay unfinished.
            logger.exception("%s %s failed", model.__name__, run_id)
            fail(claim, error)
    except LeaseLost:
        logger.warning("%s %s is lost: this worker stops", model.__name__, run_id)


def queue(model: type[Run], run_id: int) -> None:
    """Queue a run's task after the commit; a broker that fails leaves it to the sweeper."""
    # By name: the tasks module imports the modules that queue tasks.
    queue_after_commit(TASKS[model], run_id)


def sweep(*, now: datetime | None = None, at_start: bool = False) -> int:
    """Queue every abandoned run again, and return how many.

    ``at_start`` is for a process that is the only worker: then every unfinished run is abandoned.
    Runs are updated by compare-and-set, so two sweeps at once do no harm.
    """
    now = now or timezone.now()
    count = 0
    for model in TASKS:
        abandoned = model._default_manager.filter(state__in=UNFINISHED_STATES)
        if not at_start:
            abandoned = abandoned.filter(updated_at__lt=now - LEASE)
        for run_id, updated_at in list(abandoned.values_list("pk", "updated_at")):
            unchanged = abandoned.filter(pk=run_id, updated_at=updated_at)
            if unchanged.update(state=Run.State.QUEUED, updated_at=now):
                queue(model, run_id)
                count += 1
    return count

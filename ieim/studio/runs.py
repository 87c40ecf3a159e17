"""Long work in a worker: one has it at a time, and a killed one is noticed.

The database is the truth, the broker only a hint: who works on a run writes to it again and again,
and one that nobody has written to for a while is queued anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from ieim.knowledge.heartbeat import process_heartbeat
from ieim.studio.models import Run

LEASE = timedelta(seconds=15)
"""How long a worker may be silent before its run counts as abandoned."""
SAVE_EVERY = 1.0
"""Seconds between two savings of what is done."""
GOING_ON = (Run.State.QUEUED, Run.State.RUNNING)


class Lost(Exception):
    """Another worker has the run, or nobody wants it any more."""


@dataclass
class Claim:
    """A worker's hold on a run: the moment of its last write is what nobody else can know."""

    model: type[Run]
    run_id: int
    at: datetime
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, **values: Any) -> None:
        """Write to the run, and renew the hold. Raises :class:`Lost` where it is gone."""
        with self._lock:
            now = timezone.now()
            held = self.model._default_manager.filter(
                pk=self.run_id, state=Run.State.RUNNING, updated_at=self.at
            )
            if not held.update(updated_at=now, **values):
                raise Lost
            self.at = now


def take(model: type[Run], run_id: int) -> Claim | None:
    """Claim a run that is queued or abandoned: one compare-and-set, of two workers one wins."""
    now = timezone.now()
    free = Q(state=Run.State.QUEUED) | Q(state=Run.State.RUNNING, updated_at__lt=now - LEASE)
    taken = model._default_manager.filter(free, pk=run_id).update(
        state=Run.State.RUNNING, updated_at=now
    )
    return Claim(model, run_id, now) if taken else None


@contextmanager
def heartbeat(claim: Claim) -> Iterator[None]:
    """Renew the hold while a part of the work takes its time."""

    def beat() -> None:
        # The run notices at its next write.
        with suppress(Lost):
            claim.write()

    with process_heartbeat.beating(beat):
        yield


def queue(task: str, run_id: int) -> None:
    """Queue a run's task after the commit; a broker that fails leaves it to the sweeper."""

    def send() -> None:
        # By name: the tasks import what queues them.
        current_app.send_task(task, (run_id,), retry=False)

    transaction.on_commit(send, robust=True)


def requeue(
    model: type[Run], task: str, *, now: datetime | None = None, at_start: bool = False
) -> int:
    """Queue again every run of ``model`` that stands still; returns how many.

    ``at_start`` is for a process that is the only worker: every run then stands still. Each is
    moved by compare-and-set, so two sweepers at once do no harm.
    """
    now = now or timezone.now()
    waiting = model._default_manager.filter(state__in=GOING_ON)
    if not at_start:
        waiting = waiting.filter(updated_at__lt=now - LEASE)
    count = 0
    for run_id, seen in list(waiting.values_list("pk", "updated_at")):
        moved = waiting.filter(pk=run_id, updated_at=seen).update(
            state=Run.State.QUEUED, updated_at=now
        )
        if moved:
            queue(task, run_id)
            count += 1
    return count

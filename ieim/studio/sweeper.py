"""The studio's sweeper: finds runs that a broker, a worker or a process forgot."""

from __future__ import annotations

from datetime import datetime

from ieim.studio.checks import services as checks
from ieim.studio.trying import services as trying


def sweep(*, now: datetime | None = None, at_start: bool = False) -> int:
    """Queue again every run that stands still; returns how many.

    ``at_start`` is for a process that is the only worker: every run then stands still.
    """
    golden = trying.requeue(now=now, at_start=at_start)
    return golden + checks.requeue(now=now, at_start=at_start)

"""The one-process mode: without Redis, the server process runs the Celery worker in a thread.

The broker and the channel layer are in memory, so a killed process forgets both. The database
does not: the sweepers look there at once after the start and then every second, and queue again
what was left behind. It runs in the server process only, because the server's lifespan starts it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import Any

from celery.worker import state as worker_state
from django.conf import settings
from django.db import close_old_connections

from conversations import sweeper
from conversations.tasks import retain
from ieim.config import health, process
from ieim.config.celery import app
from ieim.config.monitoring import processes
from ieim.knowledge.following import follower

SWEEP_EVERY = 1.0
"""Seconds between two sweeps."""

REPORT_EVERY = 5.0
"""And between two reports of a server process."""

logger = logging.getLogger(__name__)


class Embedded:
    """Worker and sweepers of this process."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start both threads."""
        worker_state.should_stop = None
        process.raise_limits()
        worker = app.WorkController(
            pool_cls="threads",
            concurrency=settings.CELERY_WORKER_CONCURRENCY,
            without_heartbeat=True,
        )
        for name, target in (("worker", worker.start), ("sweeper", self._sweep)):
            thread = threading.Thread(target=target, name=f"ieim-{name}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Take no more turns. Does not wait: a turn cut off goes on after the next start."""
        self._stopping.set()
        worker_state.should_stop = 0  # type: ignore[assignment]  # the stubs know None only

    def _sweep(self) -> None:
        # This process is the only worker, so at the start every lease is a dead one.
        at_start = set(sweeper.SWEEPS)
        retain_at = 0.0
        while True:
            at_start -= sweeper.sweep(at_start=at_start)
            close_old_connections()
            if time.monotonic() >= retain_at:
                # The worker's: thousands of conversations take a while.
                retain.delay()
                retain_at = time.monotonic() + settings.RETAIN_EVERY
            if health.beat("worker"):
                processes.report("worker")
            health.beat("beat")
            if self._stopping.wait(SWEEP_EVERY):
                return


async def _report() -> None:
    while True:
        await asyncio.to_thread(processes.report, "web")
        await asyncio.sleep(REPORT_EVERY)


async def lifespan(scope: Any, receive: Any, send: Any) -> None:
    """The ASGI lifespan: start what this process needs beside the server, and stop it."""
    embedded = Embedded() if settings.IEIM_EMBEDDED else None
    reporting: asyncio.Task[None] | None = None
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            for check in (process.missing_files, process.missing_tables):
                if problem := await asyncio.to_thread(check):
                    # The server prints it.
                    await send({"type": "lifespan.startup.failed", "message": problem})
                    return
            try:
                # First: its thread reads the embedding model meanwhile.
                follower.start(trains=embedded is not None)
                await asyncio.to_thread(process.warm_up, answers=embedded is not None)
                if embedded:
                    await asyncio.to_thread(embedded.start)
            except Exception:
                # Said in the protocol's words: a server would take an exception for "no lifespan"
                # and serve on without a worker.
                logger.exception("The embedded worker did not start")
                await asyncio.to_thread(follower.stop)
                await send({"type": "lifespan.startup.failed"})
                return
            reporting = asyncio.create_task(_report())
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            if reporting:
                reporting.cancel()
            if embedded:
                embedded.stop()
            await asyncio.to_thread(follower.stop)
            if settings.IEIM_TRACES:
                from ieim.config.monitoring import tracing

                await asyncio.to_thread(tracing.stop)
            await send({"type": "lifespan.shutdown.complete"})
            return

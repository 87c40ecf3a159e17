"""Where a turn's model calls run, so that many turns wait and few work.

A turn is a thread. To work it needs one of a few places; while it waits for the model it has none,
and no connection to the database either. So hundreds of turns can wait in a process, while no more
of them touch the database at once than it has connections for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from contextvars import copy_context
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, reset_queries, transaction

from conversations.models import Delay, Turn
from conversations.turns import moves
from conversations.turns.leases import Lease

T = TypeVar("T")

working = threading.Semaphore(8)
"""Turns of a process that work at a time. All of them share one interpreter: more would only take
more connections."""
claiming = threading.Semaphore(2)
"""And so many more claim a turn, which takes a moment: what is claimed is queued no second time."""

LONGER = 8.0
"""Seconds for an answer, its wait for the semaphore included, after which the citizen is told that
it takes longer."""


def release_connection() -> None:
    """Give the thread's database connection back, where it is in no transaction.

    PostgreSQL's goes to the pool; SQLite's is closed, and opened anew in about two milliseconds.
    """
    if not connection.in_atomic_block:
        connection.close()
        reset_queries()  # in development Django keeps a thread's statements, 60 KiB of a turn


class ThreadExecutor:
    """The :class:`~ieim.pipeline.tasks.Executor` of a run: a thread for each call.

    They are daemons, other than a pool's: a process that ends does not wait for a model. With
    ``awaited`` a citizen waits, and is told where it takes longer than usual.
    """

    def __init__(self, lease: Lease, *, awaited: bool = True) -> None:
        self._lease = lease
        self._delay_noted = not awaited

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Do ``work`` in a thread of its own; it may not use the database."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001  # raised again where it is read
                future.set_exception(error)

        # With the ids and the span that it is for.
        run_in_context = copy_context().run
        threading.Thread(target=run_in_context, args=(run,), name="model-call", daemon=True).start()
        return future

    def wait(self, futures: Collection[Future[Any]]) -> None:
        """Wait without a place and without a connection; note where it takes longer than usual.

        Raises :class:`~conversations.turns.leases.LeaseLost` where the turn was lost meanwhile.
        """
        if not self._delay_noted and not self._wait(futures, LONGER):
            note_delay(turn_id=self._lease.turn_id)
            self._delay_noted = True
        self._wait(futures, None)
        self._lease.check()

    def _wait(self, futures: Collection[Future[Any]], seconds: float | None) -> bool:
        """Return whether one of them has ended within so many seconds."""
        if any(future.done() for future in futures):
            return True
        release_connection()
        working.release()
        try:
            return bool(wait_for(futures, seconds, FIRST_COMPLETED).done)
        finally:
            working.acquire()


@transaction.atomic
def note_delay(*, turn_id: UUID) -> None:
    """Note that a turn takes longer than usual, and hint at open pages; once a turn."""
    _, new = Delay.objects.get_or_create(turn_id=turn_id)
    if new:
        moves.notify_pages(Turn.objects.get(pk=turn_id))

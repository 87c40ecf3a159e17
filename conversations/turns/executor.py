"""Many turns wait and few work: what a turn holds while the model takes its time, which is nothing.

A turn is a thread. To work it needs one of a few places; while it waits for the model it has none,
and no connection to the database either. So hundreds of turns can wait in a process, while no more
of them touch the database at once than it has connections for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as until_done
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, reset_queries, transaction

from conversations.models import Delay, Turn
from conversations.turns import services
from conversations.turns.leases import Hold

T = TypeVar("T")

WORKING = 8
"""Turns of a process that work at a time. All of them share one interpreter: more would only take
more connections."""
CLAIMING = 2
"""And so many more claim a turn, which takes a moment: what is claimed is queued no second time."""

LONGER = 8.0
"""Seconds for an answer, its wait for a seat among them, after which the citizen is told that it
takes longer."""


class Places:
    """A number of places; who comes first gets one first."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()

    def take(self) -> None:
        """Take a place; waits for one."""
        with self._lock:
            if self._free:
                self._free -= 1
                return
            called = threading.Event()
            self._queue.append(called)
        called.wait()

    def leave(self) -> None:
        """Leave one, to whoever has waited longest."""
        with self._lock:
            if self._queue:
                self._queue.popleft().set()
            else:
                self._free += 1

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have a place until the block ends."""
        self.take()
        try:
            yield
        finally:
            self.leave()


working = Places(WORKING)
claiming = Places(CLAIMING)


def let_go() -> None:
    """Give the thread's database connection back, where it is in no transaction.

    PostgreSQL's goes to the pool; SQLite's is closed, and opened anew in about two milliseconds.
    """
    if not connection.in_atomic_block:
        connection.close()
        reset_queries()  # in development Django keeps a thread's statements, 60 KiB of a turn


class Threads:
    """The runner's :class:`~ieim.pipeline.tasks.Beside`: a thread for each call.

    They are daemons: a process that ends does not wait for a model.
    """

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._told = False

    def start(self, work: Callable[[], T]) -> Future[T]:
        """Do ``work`` in a thread of its own; it may not use the database."""
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001  # raised again where it is read
                done.set_exception(error)

        threading.Thread(target=run, name="model-call", daemon=True).start()
        return done

    def wait(self, pending: Collection[Future[Any]]) -> None:
        """Wait without a place and without a connection; tell the citizen where it takes longer.

        Raises :class:`~conversations.turns.services.LeaseLost` where the turn was lost meanwhile.
        """
        if not self._told and not self._wait(pending, LONGER):
            note_delay(turn_id=self._hold.turn_id)
            self._told = True
        self._wait(pending, None)
        self._hold.check()

    def _wait(self, pending: Collection[Future[Any]], seconds: float | None) -> bool:
        """Return whether one of them has ended within so many seconds."""
        if any(future.done() for future in pending):
            return True
        let_go()
        working.leave()
        try:
            done, _ = until_done(pending, timeout=seconds, return_when=FIRST_COMPLETED)
        finally:
            working.take()
        return bool(done)


@transaction.atomic
def note_delay(*, turn_id: UUID) -> None:
    """Note that a turn takes longer than usual, and hint at open pages; once a turn."""
    _, new = Delay.objects.get_or_create(turn_id=turn_id)
    if new:
        services.changed(Turn.objects.get(pk=turn_id))

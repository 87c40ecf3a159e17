"""The heartbeat of a process: one thread renews what it holds, however much that is.

A process that is killed stops renewing, and a sweeper takes back what it held.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)

Beat = Callable[[], None]
"""Renews something, or a lot at once, and notes itself what is lost."""

EVERY = 5.0
"""Seconds between two beats: three fit into each lease, so one that fails loses nothing."""


class Heartbeat:
    """Calls its beats ``every`` so many seconds, in a thread that is there while there are any."""

    def __init__(self, every: float = EVERY) -> None:
        self._every = every
        self._beats: Counter[Beat] = Counter()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    @contextmanager
    def beating(self, beat: Beat) -> Iterator[None]:
        """Call ``beat`` regularly until the block ends, and never after; once a round, however
        often it is given."""
        with self._lock:
            self._beats[beat] += 1
            # A process that was forked from another has none of its threads.
            if self._thread is None or not self._thread.is_alive():
                self._ended = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(self._ended,), name="heartbeat", daemon=True
                )
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._beats -= Counter((beat,))
                if not self._beats:
                    self._ended.set()
                    self._thread = None

    def beat(self) -> None:
        """Call every beat once; one that fails is logged and tried again in the next round."""
        with self._lock:
            for beat in self._beats:
                try:
                    beat()
                except DatabaseError:
                    logger.warning("a heartbeat failed", exc_info=True)
                    connection.close()

    def _run(self, ended: threading.Event) -> None:
        while not ended.wait(self._every):
            try:
                self.beat()
            finally:
                connection.close()


process_heartbeat = Heartbeat()
"""This process's."""

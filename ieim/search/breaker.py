"""A circuit breaker: while a server is down, nobody waits for it to say so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

OPEN_SECONDS: Final = 15.0


class CircuitBreaker:
    """Opens after ``failures`` failed calls in a row, for :data:`OPEN_SECONDS`.

    When that time is up, one call is let through as a probe; its success closes the circuit for
    all, its failure opens it again. A breaker belongs to a process. ``clock`` gives monotonic
    seconds; safe for threads.
    """

    def __init__(self, *, failures: int, clock: Callable[[], float]) -> None:
        self._limit = failures
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether a call would be refused now."""
        with self._lock:
            return self._seconds_left() > 0

    def enter(self) -> float:
        """Return 0.0 to let a call through, else the seconds for which the circuit stays open."""
        with self._lock:
            left = self._seconds_left()
            if left <= 0 and self._failures >= self._limit:
                # This call is the probe: the others wait until it has ended.
                self._open_until = self._clock() + OPEN_SECONDS
            return max(left, 0.0)

    def succeeded(self) -> bool:
        """Close the circuit; return whether the call before had failed."""
        with self._lock:
            failing, self._failures = self._failures > 0, 0
            return failing

    def failed(self) -> bool:
        """Count a failure; return whether it is the first in a row."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._limit:
                self._open_until = self._clock() + OPEN_SECONDS
            return self._failures == 1

    def _seconds_left(self) -> float:
        return self._open_until - self._clock() if self._failures >= self._limit else 0.0

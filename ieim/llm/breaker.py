"""A circuit breaker around a model: while a server is down, nobody waits for it to say so.

After a few failures in a row the circuit opens: calls fail at once. When the time is up, one call
is let through; its answer closes the circuit for all, its failure opens it again. A breaker belongs
to a process: others find out by themselves, a few calls later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest, ModelUnavailable

FAILURES = 5
"""Calls in a row without an answer that open the circuit."""
OPEN_SECONDS = 15.0


class BreakerModel:
    """A model behind a circuit breaker. ``clock`` gives monotonic seconds; safe for threads."""

    def __init__(self, model: Model, *, clock: Callable[[], float]) -> None:
        self._model = model
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_until = 0.0

    @property
    def name(self) -> str:
        """The name of the model behind it."""
        return self._model.name

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Ask the model, or raise :class:`ModelUnavailable` at once while the circuit is open."""
        self._enter()
        try:
            answer = self._model.complete(request, deadline=deadline)
        except ModelUnavailable:
            self._failed()
            raise
        with self._lock:
            self._failures = 0
        return answer

    def _enter(self) -> None:
        with self._lock:
            if self._failures < FAILURES:
                return
            left = self._opened_until - self._clock()
            if left > 0:
                raise ModelUnavailable(
                    "The model server has not answered for a while; it is left alone for now.",
                    retry_after=left,
                    passing=False,
                )
            # This call is the probe. The others go on waiting until it has ended.
            self._opened_until = self._clock() + OPEN_SECONDS

    def _failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._opened_until = self._clock() + OPEN_SECONDS

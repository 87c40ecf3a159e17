"""The model that a deployment has configured, and the circuit breaker around it."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from ieim.llm.capabilities import FORMATS, Capabilities, configured
from ieim.llm.offline import OfflineModel
from ieim.pipeline.ports import REJECTED, Model, ModelAnswer, ModelRequest, ModelUnavailable
from ieim.search.breaker import CircuitBreaker

logger = logging.getLogger(__name__)

FAILURES: Final = 5
"""Calls in a row without an answer that open the circuit; turns in a row whose calls of a contract
a server does not take before that is its fault and not theirs."""


def build_model(config: Mapping[str, Any], capabilities: Capabilities | None = None) -> Model:
    """Return the model of ``settings.IEIM_MODEL``: the offline engine when ``BASE_URL`` is empty.

    Read are ``BASE_URL``, ``API_KEY``, ``NAME``, ``OVERRIDES`` and, unless ``capabilities`` are
    given, :data:`ieim.llm.capabilities.SETTINGS`; ``TEMPERATURE``, ``DEADLINE`` and what overrides
    them belong to the runner. Build it once a process, after any fork. Raises ValueError, with what
    to set, for a value that cannot work.
    """
    if not config["BASE_URL"]:
        return OfflineModel()
    if not config["NAME"]:
        raise ValueError("Set IEIM_MODEL_NAME to the model that the server should use.")
    if config["RESPONSE_FORMAT"] not in FORMATS:
        raise ValueError(f"Set IEIM_MODEL_RESPONSE_FORMAT to one of {', '.join(FORMATS)}.")
    # A third of a second and 30 MB, which a web process and most commands never need.
    from ieim.llm.openai_client import OpenAIModel

    return OpenAIModel(
        config["BASE_URL"],
        config["API_KEY"],
        config["NAME"],
        capabilities=capabilities or configured(config),
        overrides=config["OVERRIDES"],
        has_proxy=config["HAS_PROXY"],
    )


class BreakerModel:
    """A model behind a circuit breaker. ``clock`` gives monotonic seconds; safe for threads.

    A server that does not take one request says no more than that it is there. So the request is
    answered with :data:`REJECTED`, and only what :data:`FAILURES` different turns in a row get
    for one contract, which may have settings of its own, is a fault of the server or of those.
    """

    def __init__(self, model: Model, *, clock: Callable[[], float]) -> None:
        self._model = model
        self._breaker = CircuitBreaker(failures=FAILURES, clock=clock)
        self._last: ModelUnavailable | None = None
        self._rejected: defaultdict[str, set[str]] = defaultdict(set)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model behind it."""
        return self._model.name

    @property
    def reads(self) -> bool:
        """Whether the model behind it reads the message."""
        return self._model.reads

    @property
    def is_open(self) -> bool:
        """Whether a call would be refused now."""
        return self._breaker.is_open

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Call the model, or raise :class:`ModelUnavailable` at once while the circuit is open,
        with the cause of the last failure."""
        if left := self._breaker.enter():
            raise ModelUnavailable(
                "The model server has not answered for a while; it is left alone for now.",
                retry_after=left,
                passing=False,
                status=self._last.status if self._last else None,
                cause=self._last.cause if self._last else None,
            )
        since = time.monotonic()
        try:
            answer = self._model.complete(request, deadline=deadline)
        except ModelUnavailable as error:
            logger.info("model call %s: no answer (%s)", request.contract, error.cause.value)
            if not error.is_request_specific:
                self._last = error
                self._breaker.failed()
                raise
            self._breaker.succeeded()
            if self._count_rejected(request) >= FAILURES:
                raise
            return ModelAnswer(raw="", finish_reason=REJECTED, model=self.name)
        self._breaker.succeeded()
        with self._lock:
            self._rejected[request.contract].clear()
        logger.debug("model call %s: %.1f s", request.contract, time.monotonic() - since)
        return answer

    def _count_rejected(self, request: ModelRequest) -> int:
        """Return how many turns in a row have not been taken, this one among them."""
        with self._lock:
            turns = self._rejected[request.contract]
            if len(turns) < FAILURES:
                turns.add(request.turn)
            return len(turns)

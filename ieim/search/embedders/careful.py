"""An embedder that is left alone for a while after it failed, and whose vectors are checked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

import numpy as np

from ieim.pipeline.ports import Embedder, EmbedderUnavailable, Matrix

AWAY_SECONDS = 15.0
"""So long nobody asks again: a turn searches several times, and each would wait for a deadline."""

logger = logging.getLogger(__name__)


class CarefulEmbedder:
    """An embedder behind a circuit breaker. ``clock`` gives monotonic seconds; safe for threads.

    What it returns has one finite row of length 1 for each text, of the same width every time.
    """

    def __init__(self, embedder: Embedder, *, clock: Callable[[], float]) -> None:
        self._embedder = embedder
        self._clock = clock
        self._lock = threading.Lock()
        self._away_until = float("-inf")
        self._failing = False
        self._width: int | None = None

    @property
    def id(self) -> str:
        """The id of the embedder behind it."""
        return self._embedder.id

    @property
    def away(self) -> bool:
        """Whether it failed a moment ago and is not asked now."""
        with self._lock:
            return self._clock() < self._away_until

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        return self._ask(self._embedder.documents, texts)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of a citizen."""
        return self._ask(self._embedder.queries, texts)

    def _ask(self, embed: Callable[[Sequence[str]], Matrix], texts: Sequence[str]) -> Matrix:
        if self.away:
            raise EmbedderUnavailable("The embedder failed a moment ago; it is left alone for now.")
        try:
            vectors = self._checked(embed(texts), len(texts))
        except EmbedderUnavailable as error:
            self._failed(str(error))
            raise
        except Exception as error:
            # An adapter's fault must not stop a turn: words answer.
            logger.exception("The embedder %s raised what no embedder should", self.id)
            self._failed(type(error).__name__)
            raise EmbedderUnavailable("The embedder failed.") from error
        with self._lock:
            back, self._failing = self._failing, False
        if back:
            logger.warning("The embedder %s answers again", self.id)
        return vectors

    def _failed(self, reason: str) -> None:
        with self._lock:
            first, self._failing = not self._failing, True
            self._away_until = self._clock() + AWAY_SECONDS
        if first:
            logger.error("No vectors from %s; words alone rank meanwhile: %s", self.id, reason)

    def _checked(self, vectors: Matrix, count: int) -> Matrix:
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != count:
            raise EmbedderUnavailable("The embedder did not give one vector for each text.")
        if count and self._width not in (None, matrix.shape[1]):
            raise EmbedderUnavailable("The embedder's vectors have another width than before.")
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(matrix).all() or not (lengths > 0).all():
            raise EmbedderUnavailable("The embedder gave a vector without a direction.")
        if count:
            self._width = matrix.shape[1]
        checked: Matrix = matrix / lengths
        return checked

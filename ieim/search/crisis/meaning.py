"""Which risk flags a text has by its meaning: ridge regression on its likeness to the examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ieim.pipeline.ports import Matrix

NARROW: Final = 3.5
"""How quickly likeness falls with the distance, in average distances of the examples."""

RIDGE: Final = 0.1
"""How little a single example may bend."""

FALSE_ALARMS: Final = 0.02
"""The share of the near misses that may be flagged, each judged by all texts but itself."""

PART: Final = 0.1
"""By so much a sentence has to be surer than a whole message."""

BESIDE: Final = 0.25
"""A second flag stands beside the surest one when it is less sure by no more than this."""

_Numbers = npt.NDArray[np.float64]


class Meaning:
    """What the examples teach. The same vectors teach the same; safe for threads.

    ``vectors`` has a row of length 1 for each example, ``codes`` its flag or empty, ``near`` the
    positions of the near misses. Teaching 2,000 examples takes about a second. ``width`` is that of
    the vectors.
    """

    def __init__(self, vectors: Matrix, codes: Sequence[str], near: Sequence[int]) -> None:
        self.codes = tuple(sorted(set(codes) - {""}))
        self._vectors = vectors.astype(np.float64)
        self.width = self._vectors.shape[1]
        # The average distance belongs to the embedder: some put all texts close together.
        mean = self._vectors.mean(axis=0)
        self._narrow = NARROW / max(1.0 - float(mean @ mean), 1e-6)
        self._weights, alone = self._taught(codes)
        # Each near miss is judged by the others: what it taught of itself says nothing.
        surest = np.sort(alone[list(near)].max(axis=1))
        self.threshold = float(surest[-1 - int(FALSE_ALARMS * len(surest))]) if len(near) else 0.0

    def flags(self, vectors: Matrix) -> list[tuple[str, int]]:
        """Return the flags of a message, the surest first, each with the row that tells it best.

        The first of ``vectors`` is the whole message, the others are its sentences.
        """
        sure = self.margins(vectors)
        sure[1:] -= PART
        best = sure.max(axis=0)
        least = max(self.threshold, float(best.max()) - BESIDE)
        order = sorted(range(len(self.codes)), key=lambda i: -best[i])
        telling = sure[1:].argmax(axis=0) + 1 if len(sure) > 1 else sure.argmax(axis=0)
        return [(self.codes[i], int(telling[i])) for i in order if best[i] > least]

    def margins(self, vectors: Matrix) -> _Numbers:
        """Return, a row a text and a column a flag, by how much it is that rather than nothing."""
        margins: _Numbers = self._likeness(vectors.astype(np.float64)) @ self._weights
        return margins

    def _likeness(self, vectors: _Numbers) -> _Numbers:
        likeness: _Numbers = np.exp(self._narrow * (vectors @ self._vectors.T - 1.0))
        # The last column is what every text has: it shifts all of them alike.
        whole: _Numbers = np.c_[likeness, np.ones(len(likeness))]
        return whole

    def _taught(self, codes: Sequence[str]) -> tuple[_Numbers, _Numbers]:
        """Return the weights, and the margins of each example as all the others give them."""
        labels = (*self.codes, "")
        said = np.array([[code == label for label in labels] for code in codes], dtype=np.float64)
        target = said[:, :-1] - said[:, -1:]
        shift = target.mean(axis=0)
        likeness = self._likeness(self._vectors)[:, :-1]
        inverse = np.linalg.inv(likeness + RIDGE * np.eye(len(likeness)))
        weights = inverse @ (target - shift)
        alone = target - weights / np.diag(inverse)[:, None]
        return np.r_[weights, shift[None]], alone

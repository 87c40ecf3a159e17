"""Which risk flags a text has by its meaning: ridge regression on its likeness to the examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ieim.pipeline.ports import Matrix
from ieim.search.crisis.solving import solve_in_place

NARROW: Final = 3.5
"""How quickly likeness falls with the distance, in average distances of the examples."""

RIDGE: Final = 0.1
"""How little a single example may bend."""

FALSE_ALARMS: Final = 0.03
"""The share of the near misses that may be flagged, each judged by all texts but itself."""

HELD: Final = 0.005
"""The share of them that may be flagged so surely that an answer waits for a person."""

PIECE: Final = 0.3
"""By so much a piece of a sentence has to be surer than a sentence or the whole message: it is more
seldom what somebody means to say."""

BESIDE: Final = 0.25
"""A second flag stands beside the surest one when it is less sure by no more than this."""

_Numbers = npt.NDArray[np.float64]


class Sign(NamedTuple):
    """A flag of a message, the ``row`` of its vectors that tells it best, and whether it is weak:
    over the line of what is flagged, but not over that of what waits for a person."""

    code: str
    row: int
    weak: bool = False


class Meaning:
    """What the examples teach. The same vectors teach the same; safe for threads.

    ``vectors`` has a row of length 1 for each example, ``codes`` its flag or empty, ``near`` the
    positions of the near misses. Teaching 6,000 texts takes 3 s, and 250 MB meanwhile.
    ``width`` is that of the vectors.
    """

    def __init__(self, vectors: Matrix, codes: Sequence[str], near: Sequence[int]) -> None:
        self.codes = tuple(sorted(set(codes) - {""}))
        self._vectors = vectors.astype(np.float32)
        self.width = self._vectors.shape[1]
        # The average distance belongs to the embedder: some put all texts close together.
        mean = self._vectors.mean(axis=0, dtype=np.float64)
        self._narrow = NARROW / max(1.0 - float(mean @ mean), 1e-6)
        near = list(near)
        self._weights, self._shift, alone = self._taught(codes, near)
        # Each near miss is judged by the others: what it taught of itself says nothing.
        surest = np.sort(alone.max(axis=1)) if near else np.zeros(1)
        self.threshold, self.strong = (
            float(surest[-1 - int(share * len(surest))]) for share in (FALSE_ALARMS, HELD)
        )

    def flags(self, vectors: Matrix, *, pieces: int = 0) -> list[Sign]:
        """Return the flags of a message, the surest first.

        The first of ``vectors`` is the whole message, the others are its sentences, and the last
        ``pieces`` of them what stands between their commas.
        """
        sure = self.margins(vectors)
        sure[len(sure) - pieces :] -= PIECE
        best = sure.max(axis=0)
        least = max(self.threshold, float(best.max()) - BESIDE)
        order = sorted(range(len(self.codes)), key=lambda i: -best[i])
        telling = sure[1:].argmax(axis=0) + 1 if len(sure) > 1 else sure.argmax(axis=0)
        return [
            Sign(self.codes[i], int(telling[i]), weak=bool(best[i] <= self.strong))
            for i in order
            if best[i] > least
        ]

    def margins(self, vectors: Matrix) -> _Numbers:
        """Return, a row a text and a column a flag, by how much it is that rather than nothing."""
        margins: _Numbers = self._likeness(vectors) @ self._weights
        return margins + self._shift

    def _likeness(self, vectors: Matrix) -> Matrix:
        # In place, and in single precision: among themselves the texts take 120 MB.
        likeness: Matrix = vectors.astype(np.float32) @ self._vectors.T
        likeness -= 1.0
        likeness *= self._narrow
        return np.exp(likeness, out=likeness)

    def _taught(
        self, codes: Sequence[str], near: Sequence[int]
    ) -> tuple[_Numbers, _Numbers, _Numbers]:
        """Return the weights, what every text has, and the margins of each near miss as all other
        texts give them."""
        labels = (*self.codes, "")
        said = np.array([[code == label for label in labels] for code in codes], dtype=np.float64)
        target = said[:, :-1] - said[:, -1:]
        shift = target.mean(axis=0)
        likeness = self._likeness(self._vectors)
        likeness.flat[:: len(likeness) + 1] += RIDGE
        # Of the inverse only what the near misses need of it: all of it takes twice as long.
        ones = np.zeros((len(codes), len(near)), dtype=np.float32)
        ones[near, range(len(near))] = 1.0
        asked = np.c_[(target - shift).astype(np.float32), ones]
        solved = solve_in_place(likeness, asked)
        weights = solved[:, : len(self.codes)].astype(np.float64)
        inverse = solved[near, len(self.codes) :]
        alone = target[near] - weights[near] / np.diag(inverse)[:, None]
        return weights, shift, alone

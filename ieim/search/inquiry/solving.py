"""Ridge regression on sentence vectors: what tells one group of examples from others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

RIDGE: Final = 20.0
"""How little a single example may bend. From 5 to 60 little changes."""

Numbers = npt.NDArray[np.float64]
Rows = npt.NDArray[np.bool_]


class Line(NamedTuple):
    """A direction among the vectors."""

    slope: Numbers
    bias: float

    def at(self, vector: npt.NDArray[np.float32]) -> float:
        return float(vector.astype(np.float64) @ self.slope) + self.bias


def line(vectors: Numbers, right: Sequence[Rows], wrong: Sequence[Rows]) -> tuple[Line, Numbers]:
    """Solve for 1 where ``right`` and -1 where ``wrong``; what is neither counts nothing.

    Both sides weigh alike, and so does each group of a side. Also returns what each example gets
    from all others.
    """
    target = np.where(np.any(right, axis=0), 1.0, -1.0)
    weight = np.zeros(len(vectors))
    many = int(np.any([*right, *wrong], axis=0).sum())
    for side in (right, wrong):
        for rows in side:
            weight[rows] = many / (2 * len(side) * rows.sum())
    whole = weight.sum()
    middle, level = weight @ vectors / whole, float(weight @ target) / whole
    shifted = vectors - middle
    weighted = weight[:, None] * shifted
    inverse = np.linalg.inv(shifted.T @ weighted + RIDGE * np.eye(vectors.shape[1]))
    slope = inverse @ (weighted.T @ (target - level))
    # What an example gets where it is left out follows from its own leverage.
    own = weight * (np.einsum("ij,jk,ik->i", shifted, inverse, shifted) + 1 / whole)
    alone = target - (target - (shifted @ slope + level)) / (1 - own)
    return Line(slope, float(level - middle @ slope)), alone

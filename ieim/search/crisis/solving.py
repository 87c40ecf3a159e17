"""Solving in place: numpy's own solver takes five times the memory of its matrix."""

from __future__ import annotations

from typing import Final

import numpy as np

from ieim.pipeline.ports import Matrix

BLOCK: Final = 512
"""Rows that are worked on at once."""


def solve_in_place(matrix: Matrix, right: Matrix) -> Matrix:
    """Return ``x`` with ``matrix @ x == right`` in single precision; both are overwritten.

    ``matrix`` (n by n) is symmetric and positive definite: of it only the lower triangle is read.
    ``right`` is n by m. Cholesky's decomposition by blocks; raises ``numpy.linalg.LinAlgError``
    where the matrix is not positive definite.
    """
    size = len(matrix)
    blocks = [slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK)]
    for number, here in enumerate(blocks):
        corner = np.linalg.cholesky(matrix[here, here])
        matrix[here, here] = corner
        inverse = np.linalg.inv(corner)
        matrix[here.stop :, here] = matrix[here.stop :, here] @ inverse.T
        right[here] = inverse @ right[here]
        for there in blocks[number + 1 :]:
            matrix[there.start :, there] -= matrix[there.start :, here] @ matrix[there, here].T
            right[there] -= matrix[there, here] @ right[here]
    for here in reversed(blocks):
        right[here] -= matrix[here.stop :, here].T @ right[here.stop :]
        right[here] = np.linalg.solve(matrix[here, here].T, right[here])
    return right

"""Situations: a death, an illness in the family, told by what a message means.

The nearest of a few examples (``examples/situations.yaml``) decides, in every language that the
embedder reads; where there is no embedder no situation is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import yaml

from ieim.pipeline.ports import Matrix

LEAST: Final = 0.55
"""The cosine of a sentence and its nearest example, at least."""

_NONE: Final = "none"


class Situations:
    """The examples as vectors of one embedder; safe for threads."""

    def __init__(self, embed: Callable[[Sequence[str]], Matrix]) -> None:
        path = Path(__file__).with_name("examples") / "situations.yaml"
        examples: dict[str, list[str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
        self._cases = [case for case, texts in examples.items() for _ in texts]
        self._vectors = embed([text for texts in examples.values() for text in texts])

    def of(self, sentences: Matrix) -> str:
        """Return the situation of a message of ``sentences``, empty for none."""
        likeness = sentences @ self._vectors.T
        nearest = [
            (float(row.max()), case)
            for row in likeness
            if (case := self._cases[int(row.argmax())]) != _NONE
        ]
        score, case = max(nearest, default=(0.0, ""))
        return case if score >= LEAST else ""

"""A small embedder for tests: it knows a few ideas by the words that people have for them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

import numpy as np

from ieim.pipeline.ports import Embedder, EmbedderUnavailable, Matrix
from ieim.search.analysis import fold, query_words
from ieim.search.embedders import CheckedEmbedder, build_embedder

IDEAS: tuple[frozenset[str], ...] = (
    frozenset(["passport", "passports", "travel", "papers", "reisepass"]),
    frozenset(["wet", "damaged", "ruined", "unreadable", "lost", "stolen", "gone", "verloren"]),
    frozenset(["renew", "renewal", "expires", "expired", "runs"]),
    frozenset(["tax", "taxes", "wages", "salary"]),
    frozenset(["money", "refund", "paid", "back", "cash"]),
    frozenset(["driving", "car", "licence", "vehicle"]),
    frozenset(["visa", "tourist", "stay", "longer", "extend"]),
)


class _Remembering:
    """An embedder that makes the vector of a text of the knowledge once."""

    def __init__(self, embedder: Embedder) -> None:
        self.id = embedder.id
        self.queries = embedder.queries
        self._documents = embedder.documents
        self._vectors: dict[str, Matrix] = {}

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._documents(missing), strict=True))
        return np.stack([self._vectors[text] for text in texts])


@cache
def embedded() -> CheckedEmbedder:
    """Return the embedded model, the same one for a whole run: vectors of the demo take seconds."""
    embedder = build_embedder({"KIND": "embedded"})
    assert embedder is not None
    return CheckedEmbedder(_Remembering(embedder), clock=time.monotonic)


class Ideas:
    """The embedder port without a model. ``down`` makes it fail; ``asked`` are all texts."""

    def __init__(self, name: str = "ideas/1") -> None:
        self.id = name
        self.down = False
        self.asked: list[str] = []
        self.made: list[str] = []

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        self.made += texts
        return self._rows(texts)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of a citizen."""
        self.asked += texts
        return self._rows(texts)

    def _rows(self, texts: Sequence[str]) -> Matrix:
        if self.down:
            raise EmbedderUnavailable("It is down.")
        # The last number is what every text has: none is without a direction.
        results = [[*map(float, _ideas(text)), 0.1] for text in texts]
        rows = np.array(results, dtype=np.float32).reshape(len(texts), len(IDEAS) + 1)
        unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def _ideas(text: str) -> list[bool]:
    words = {plain for _, plain in query_words(text)} | set(fold(text).split())
    return [not idea.isdisjoint(words) for idea in IDEAS]


class Feelings(Ideas):
    """Knows who feels unneeded, and an office, by single words."""

    def __init__(self) -> None:
        super().__init__("feelings/1")

    def _rows(self, texts: Sequence[str]) -> Matrix:
        if self.down:
            raise EmbedderUnavailable("It is down.")
        words = [set(fold(text).replace(".", " ").split()) for text in texts]
        results = [[2.0 * ("nobody" in w), 1.0 * ("office" in w), 0.5] for w in words]
        rows = np.array(results, dtype=np.float32).reshape(len(texts), 3)
        unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

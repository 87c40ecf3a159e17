"""A crisis by letters: messages that are spelt like what people in danger write.

A line through the runs of letters, the words and the pairs of words of the examples
(:mod:`ieim.search.examples`). It reads every language that the examples are in, also those that an
embedder does not know, and needs none. What the examples teach is in ``letters.npz``, made by
``python -m ieim.search.train``. Figures: docs/decisions/0047-crisis-by-letters.md.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ieim.search import examples

SHIPPED: Final = Path(__file__).with_suffix(".npz")

PLACES: Final = 1 << 15
"""What is spelt is counted at so many places, by its checksum; some share one."""

_RUNS: Final = (3, 4, 5)
_SIGNS: Final = (1, 2, 3)
"""Lengths of the runs of letters, and of signs that are words or syllables."""

_NO_LETTERS = re.compile(r"[\W_]+")
_IN_SIGNS = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")

Rows: TypeAlias = npt.NDArray[np.float32]
_Numbers = npt.NDArray[np.float64]


def spelt(texts: Sequence[str]) -> Rows:
    """Return what is spelt in each text, 1 or 0 at each of :data:`PLACES`."""
    rows = np.zeros((len(texts), PLACES), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        row[sorted({zlib.crc32(run.encode()) % PLACES for run in _runs(text)})] = 1.0
    return rows


def _runs(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().encode("utf-8", "replace").decode()
    words = _NO_LETTERS.sub(" ", plain).split()
    for word in words:
        signs = _IN_SIGNS.search(word) is not None
        padded = f" {word} "
        for length in _SIGNS if signs else _RUNS:
            yield from (padded[i : i + length] for i in range(len(padded) - length + 1))
        if not signs:
            yield f"w{padded}"
    yield from (f"b {one} {other}" for one, other in pairwise(words))


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """What examples taught; safe for threads.

    ``weights`` has a row for each of :data:`PLACES` and a column for each of ``codes``, ``shift``
    what every text gets; ``rarity`` says how much a place counts. Above ``threshold`` a text alone
    is flagged. ``alone`` is what each near miss among the examples gets from all the others.
    """

    codes: tuple[str, ...]
    weights: Rows
    shift: _Numbers
    rarity: Rows
    threshold: float
    alone: Mapping[str, _Numbers] = field(default_factory=dict)

    def margins(self, texts: Sequence[str]) -> _Numbers:
        """Return, a row a text and a column a flag, by how much it is that rather than nothing."""
        result: _Numbers = unit(spelt(texts) * self.rarity) @ self.weights + self.shift
        return result

    def to_bytes(self) -> bytes:
        """Return it as an npz file, in half precision, without what near misses get."""
        file = io.BytesIO()
        np.savez_compressed(
            file,
            codes=np.array(self.codes),
            weights=self.weights.astype(np.float16),
            rarity=self.rarity.astype(np.float16),
            numbers=np.array([*self.shift, self.threshold]),
            alone=np.array(list(self.alone.values()), dtype=np.float32),
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, near: Sequence[str] = ()) -> Letters:
        """Return that of :meth:`to_bytes`; ``near`` are the near misses among the examples."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            *shift, threshold = arrays["numbers"].tolist()
            alone = arrays["alone"].astype(np.float64)
            return cls(
                codes=tuple(arrays["codes"].tolist()),
                weights=arrays["weights"].astype(np.float32),
                shift=np.array(shift),
                rarity=arrays["rarity"].astype(np.float32),
                threshold=threshold,
                alone=dict(zip(near, alone, strict=False)),
            )


def unit(rows: Rows) -> Rows:
    """Return rows of length 1, or of length 0 where nothing is spelt."""
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    normalised: Rows = (rows / lengths).astype(np.float32)
    return normalised


@cache
def shipped() -> Letters:
    """Return what the shipped examples teach."""
    near = dict.fromkeys(text for text, _, is_near in examples.shipped_crisis() if is_near)
    return Letters.from_bytes(SHIPPED.read_bytes(), list(near))

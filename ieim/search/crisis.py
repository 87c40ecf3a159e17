"""A crisis by meaning: messages that are like what people in danger write.

Kernel ridge regression on the vectors of the examples (:mod:`ieim.search.examples`). What the
shipped examples teach is in ``crisis.npz``, made by ``python -m ieim.search.train``. Figures:
docs/decisions/0018-crisis-by-meaning.md.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ieim.pipeline.ports import Matrix
from ieim.search.letters import Letters

SHIPPED: Final = Path(__file__).with_suffix(".npz")

PIECE: Final = 0.3
"""By so much a piece of a sentence has to be surer than a sentence or the whole message: it is more
seldom what somebody means to say."""

WHOLE: Final = 0.3
"""What the whole message weighs beside each of its sentences: a sentence out of its story is soon
like danger ("it was expected, but still"). Chosen on messages of worried people."""

LETTERS: Final = 0.5
"""What letters weigh beside the meaning."""

SECOND: Final = 0.25
"""A second flag counts when it is less sure than the surest one by no more than this."""

MOST: Final = 16
"""Sentences besides the whole message; of more, neighbours are read together. Each costs 3 ms."""

SHORTEST: Final = 4
"""Characters of the shortest sentence that is read alone."""

_PIECE: Final = (8, 3)
"""Characters and words of the shortest piece of a sentence that is."""

_SENTENCE = re.compile(r"[^.!?…。！？؟\n]*(?:[.!?…。！？؟\n]+|$)")
_CUT = re.compile(r"(?<=[,;،؛，；:–—])\s++|(?<!\s)\s++(?=(?:and|und|et|y|e|و)\s)")
"""Between two things that are said in one sentence; a guess by the commonest words for "and"."""

_Numbers = npt.NDArray[np.float64]


class Sign(NamedTuple):
    """A flag of a message, the ``row`` of its vectors that shows it best, and whether it is weak:
    over the threshold of what is flagged, but not over that of what waits for a person."""

    code: str
    row: int
    weak: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Spelt:
    """What letters say of the texts of a message: ``margins`` as in :meth:`Letters.margins`."""

    letters: Letters
    margins: _Numbers

    def of(self, codes: Sequence[str]) -> _Numbers:
        """Return the margins of these flags: nothing is said of one that letters do not know."""
        column_of = {code: column for column, code in enumerate(self.letters.codes)}
        columns = [column_of.get(code) for code in codes]
        nothing = np.zeros(len(self.margins))
        return np.stack([nothing if c is None else self.margins[:, c] for c in columns], axis=1)

    def flags(self, *, pieces: int = 0) -> list[Sign]:
        """Return the flags of a message by letters alone, the surest first: each a weak one."""
        over = self.margins - self.letters.threshold
        over[len(over) - pieces :] -= PIECE
        weak = np.zeros(len(self.letters.codes), dtype=bool)
        return _signs(self.letters.codes, _within(over), weak)


def _within(rows: _Numbers) -> _Numbers:
    """Return the rows of a message's sentences with what the whole of it, the first row, says."""
    within: _Numbers = (1.0 - WHOLE) * rows + WHOLE * rows[0]
    return within


def _signs(codes: Sequence[str], over: _Numbers, strong: npt.NDArray[np.bool_]) -> list[Sign]:
    """Return the flags that are ``over`` the threshold in any row, and not far behind the best."""
    best = over.max(axis=0)
    least = max(0.0, float(best.max()) - SECOND)
    rows = over[1:].argmax(axis=0) + 1 if len(over) > 1 else over.argmax(axis=0)
    order = sorted(range(len(codes)), key=lambda i: -best[i])
    return [Sign(codes[i], int(rows[i]), weak=not strong[i]) for i in order if best[i] > least]


@dataclass(frozen=True, slots=True, eq=False)
class CrisisModel:
    """What examples taught; safe for threads.

    ``vectors`` has a row of length 1 for each example, ``weights`` a row for each and a column for
    each of ``codes``, ``shift`` what every text gets. ``narrow`` says how quickly likeness falls
    with the distance. A flag is raised above ``threshold`` and holds an answer above ``strong``.
    ``embedder`` made the vectors, ``examples`` is the digest of the texts and their flags.
    """

    embedder: str
    examples: str
    codes: tuple[str, ...]
    vectors: Matrix
    weights: _Numbers
    shift: _Numbers
    narrow: float
    threshold: float
    strong: float

    @property
    def width(self) -> int:
        """The width of the vectors."""
        return int(self.vectors.shape[1])

    def flags(self, vectors: Matrix, spelt: Spelt | None = None, *, pieces: int = 0) -> list[Sign]:
        """Return the flags of a message, the surest first.

        The first of ``vectors`` is the whole message, the others are its sentences, and the last
        ``pieces`` of them what stands between their commas. ``spelt`` is what letters say of each:
        it counts beside the meaning.
        """
        margins = self.margins(vectors)
        if spelt is not None:
            margins += LETTERS * spelt.of(self.codes)
        margins[len(margins) - pieces :] -= PIECE
        within = _within(margins)
        strong = within.max(axis=0) > self.strong
        return _signs(self.codes, within - self.threshold, strong)

    def margins(self, vectors: Matrix) -> _Numbers:
        """Return, a row a text and a column a flag, by how much it is that rather than nothing."""
        margins: _Numbers = likeness(vectors, self.vectors, self.narrow) @ self.weights
        return margins + self.shift

    def to_bytes(self, *, skip: int = 0) -> bytes:
        """Return the model as an npz file, without its first ``skip`` vectors."""
        file = io.BytesIO()
        # Half precision moves a margin by less than 0.0002, and is half the size.
        np.savez(
            file,
            embedder=self.embedder,
            examples=self.examples,
            codes=np.array(self.codes),
            vectors=self.vectors[skip:].astype(np.float16),
            weights=self.weights.astype(np.float32),
            numbers=np.array([*self.shift, self.narrow, self.threshold, self.strong]),
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, first: CrisisModel | None = None) -> CrisisModel:
        """Return the model of :meth:`to_bytes`, whose skipped vectors are those of ``first``."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            vectors = arrays["vectors"].astype(np.float32)
            *shift, narrow, threshold, strong = arrays["numbers"].tolist()
            return cls(
                embedder=str(arrays["embedder"]),
                examples=str(arrays["examples"]),
                codes=tuple(arrays["codes"].tolist()),
                vectors=vectors if first is None else np.concatenate([first.vectors, vectors]),
                weights=arrays["weights"].astype(np.float64),
                shift=np.array(shift),
                narrow=narrow,
                threshold=threshold,
                strong=strong,
            )


@cache
def shipped() -> CrisisModel:
    """Return what the shipped examples teach with the embedded model."""
    return CrisisModel.from_bytes(SHIPPED.read_bytes())


def likeness(vectors: Matrix, examples: Matrix, narrow: float) -> Matrix:
    """Return, from 0 to 1, how like each of ``vectors`` is to each of ``examples``."""
    # In place, and in single precision: among themselves the examples take 160 MB.
    similarities: Matrix = vectors.astype(np.float32) @ examples.T
    similarities -= 1.0
    similarities *= np.float32(narrow)
    return np.exp(similarities, out=similarities)


class Part(NamedTuple):
    """Half-open code point offsets into the text as sent; ``piece`` of a sentence, or one."""

    start: int
    end: int
    piece: bool = False


def parts(text: str) -> list[Part]:
    """Return the whole message, without white space around it, its sentences if several, and then
    what stands between the commas of a sentence, as far as there is room."""
    whole = _stripped(text, 0, len(text))
    stripped = [_stripped(text, *match.span()) for match in _SENTENCE.finditer(text)]
    sentences = [part for part in stripped if part.end - part.start >= SHORTEST]
    if len(sentences) < 2:
        return [whole, *_pieces(text, [whole])[:MOST]]
    together = -(-len(sentences) // MOST)
    groups = [sentences[i : i + together] for i in range(0, len(sentences), together)]
    read = [Part(group[0].start, group[-1].end) for group in groups]
    return [whole, *read, *_pieces(text, read)[: MOST - len(read)]]


def _pieces(text: str, sentences: Sequence[Part]) -> list[Part]:
    """Return the pieces of the ``sentences`` that have several; what is short is read with none."""
    result: list[Part] = []
    for sentence in sentences:
        cuts = [match.end() for match in _CUT.finditer(text, sentence.start, sentence.end)]
        places = zip([sentence.start, *cuts], [*cuts, sentence.end], strict=True)
        pieces = [_stripped(text, *span) for span in places]
        long = [piece for piece in pieces if _is_long(text[piece.start : piece.end])]
        result += (part._replace(piece=True) for part in long if len(long) > 1)
    return result


def _is_long(piece: str) -> bool:
    characters, words = _PIECE
    return len(piece) >= characters and len(piece.split()) >= words


def _stripped(text: str, start: int, end: int) -> Part:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return Part(start, max(start, end - (len(part) - len(part.rstrip()))))

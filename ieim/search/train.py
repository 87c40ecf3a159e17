"""Training from examples: ``python -m ieim.search.train`` makes ``crisis.npz`` and ``letters.npz``.

Run it after a change of the examples or of the embedded model (two minutes). A site whose
embedder is another one trains with the same functions, once, and so does one that publishes crisis
examples besides the shipped ones. Every threshold is a share of the examples, each judged by all
others; none was chosen by looking at the messages that measure it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ieim.pipeline import canonical
from ieim.pipeline.message import risk
from ieim.pipeline.ports import Matrix
from ieim.search import crisis, examples, letters
from ieim.search.crisis import CrisisModel, Spelt
from ieim.search.embedders import EmbeddedEmbedder
from ieim.search.examples import CrisisExamples
from ieim.search.letters import Letters

NARROW: Final = 3.5
"""How quickly likeness falls with the distance, in average distances of the examples."""

CRISIS_RIDGE: Final = 0.1
LETTERS_RIDGE: Final = 0.3

FALSE_ALARMS: Final = 0.03
"""The share of the near misses that may be flagged."""

ALARMS_BY_LETTERS: Final = 0.01
"""The share of them that may be flagged by letters alone."""

STRONG: Final = 0.005
"""The share of them that may be flagged so surely that an answer waits for a person."""

_Numbers = npt.NDArray[np.float64]


def crisis_digest(examples_: CrisisExamples) -> str:
    """Return the digest of crisis examples, texts and flags."""
    return canonical.digest([examples_.texts, examples_.codes, examples_.near])


def crisis_model(
    vectors: Matrix, found: CrisisExamples, *, embedder: str = "", by_letters: Letters | None = None
) -> CrisisModel:
    """Return what ``found`` teaches, whose ``vectors`` are rows of length 1, beside ``by_letters``.

    For the 6,300 shipped examples it takes some seconds, and 400 MB meanwhile.
    """
    # As they are stored: who adds an example trains with those, and gets the same thresholds.
    vectors = vectors.astype(np.float16).astype(np.float32)
    codes = tuple(sorted(set(found.codes) - {""}))
    # The average distance belongs to the embedder: some put all texts close together.
    mean = vectors.mean(axis=0, dtype=np.float64)
    narrow = NARROW / max(1.0 - float(mean @ mean), 1e-6)
    kernel = crisis.likeness(vectors, vectors, narrow)
    weights, shift, alone = _ridge(kernel, CRISIS_RIDGE, found.codes, codes, found.near)
    if by_letters is not None:
        near_misses = [found.texts[i] for i in found.near]
        alone += crisis.LETTERS * _spelt(by_letters, near_misses).of(codes)
    surest = np.sort(alone.max(axis=1)) if found.near else np.zeros(1)
    threshold, strong = (
        float(surest[-1 - int(share * len(surest))]) for share in (FALSE_ALARMS, STRONG)
    )
    return CrisisModel(
        embedder=embedder,
        examples=crisis_digest(found),
        codes=codes,
        vectors=vectors,
        weights=weights,
        shift=shift,
        narrow=narrow,
        threshold=threshold,
        strong=strong,
    )


def letters_model(found: CrisisExamples, phrases: Sequence[tuple[str, str]] = ()) -> Letters:
    """Return what the letters of ``found`` teach, and of ``phrases``, each with its flag.

    For the shipped examples it takes a minute, and 1.5 GB meanwhile.
    """
    texts = [*found.texts, *(text for _, text in phrases)]
    flags = [*found.codes, *(code for code, _ in phrases)]
    codes = tuple(sorted(set(flags) - {""}))
    rows = letters.spelt(texts)
    rarity = np.log(len(texts) / (1.0 + rows.sum(axis=0))).clip(min=0.0).astype(np.float32)
    rows = letters.unit(rows * rarity)
    weights, shift, alone = _ridge(rows @ rows.T, LETTERS_RIDGE, flags, codes, found.near)
    surest = np.sort(alone.max(axis=1))
    return Letters(
        codes,
        rows.T @ weights.astype(np.float32),
        shift,
        rarity,
        float(surest[-1 - int(ALARMS_BY_LETTERS * len(surest))]),
        {texts[index]: row for index, row in zip(found.near, alone, strict=True)},
    )


def _ridge(
    kernel: Matrix,
    ridge: float,
    flags: Sequence[str],
    codes: Sequence[str],
    near_misses: Sequence[int],
) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return what each text weighs for each of ``codes``, the shift, and what each near miss gets.

    Each near miss is judged by all other texts: what it taught of itself says nothing. ``kernel``
    is used up.
    """
    near = list(near_misses)
    labels = np.array([[flag == code for code in (*codes, "")] for flag in flags])
    target = labels[:, :-1].astype(np.float64) - labels[:, -1:]
    shift = target.mean(axis=0)
    kernel.flat[:: len(kernel) + 1] += ridge
    # Of the inverse only the columns of the near misses are needed.
    columns = np.zeros((len(flags), len(near)), dtype=np.float32)
    columns[near, range(len(near))] = 1.0
    solved = np.linalg.solve(kernel, np.c_[(target - shift).astype(np.float32), columns])
    weights = solved[:, : len(codes)].astype(np.float64)
    leverage = np.diag(solved[near, len(codes) :])
    return weights, shift, target[near] - weights[near] / leverage[:, None]


def _spelt(by_letters: Letters, texts: Sequence[str]) -> Spelt:
    """Return what letters say of each near miss, judged by all other texts."""
    margins = by_letters.margins(texts)
    for row, text in zip(margins, texts, strict=True):
        row[:] = by_letters.alone.get(text, row)
    return Spelt(by_letters, margins)


def main() -> None:
    """Train with the embedded model, and write the files."""
    embedder = EmbeddedEmbedder()
    crisis_examples = examples.crisis()
    by_letters = letters_model(
        crisis_examples, risk.phrases(set(crisis_examples.codes), examples.crisis_languages())
    )
    letters.SHIPPED.write_bytes(by_letters.to_bytes())
    vectors = embedder.documents(crisis_examples.texts)
    model = crisis_model(vectors, crisis_examples, embedder=embedder.id, by_letters=by_letters)
    crisis.SHIPPED.write_bytes(model.to_bytes())


if __name__ == "__main__":
    main()

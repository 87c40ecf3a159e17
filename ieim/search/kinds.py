"""What a message is, and what it asks about: multinomial logistic classifiers over its vector.

``examples/kinds.yaml`` and ``examples/aspects.yaml`` teach them. ``kinds.npz`` has the weights for
the embedded model, made by ``python -m ieim.search.kinds`` after a change of the examples; a
deployment with another embedder calls :func:`train` once.
Figures: docs/decisions/0070-kinds-of-messages.md.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import yaml

from ieim.pipeline import canonical
from ieim.pipeline.kinds import INQUIRY
from ieim.pipeline.ports import Matrix

SHIPPED: Final = Path(__file__).with_suffix(".npz")
UNCLEAR: Final = "unclear"
RIDGE: Final = 0.3  # little changes from 0.1 to 1
STEPS: Final = 60
FOLDS: Final = 5

WORD_FOR_WORD: Final = 0.99

WHOLE: Final = "none"
"""In ``aspects.yaml`` what asks for a service as a whole."""
_SUBJECTS: Final = 3
"""A question with a subject is an example with so many."""

Vector = npt.NDArray[np.float32]
_Numbers = npt.NDArray[np.float64]
_Places = npt.NDArray[np.intp]
_NO_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The trained classifiers; safe for threads.

    ``weights`` has a column for each of ``names``, the kinds, and ``field_weights`` one for each of
    ``field_names``, the fields of a service that a question asks about, empty for none of them; the
    last row is the bias. ``embedder`` made the vectors; ``examples`` is :func:`examples_digest`.
    """

    embedder: str
    examples: str
    names: tuple[str, ...]
    weights: Vector
    field_names: tuple[str, ...]
    field_weights: Vector

    def of(self, vector: Vector, text: str = "") -> dict[str, float]:
        """Return the calibrated probability of each kind for a message; their sum is 1.

        ``vector`` has length 1. If ``text`` is an example word for word, its kind has 0.99.
        """
        shares = _softmax(vector[None] @ self.weights[:-1] + self.weights[-1])[0]
        if kind := kind_of_words(text):
            others = np.array(self.names) != kind
            shares[others] *= (1 - WORD_FOR_WORD) / max(shares[others].sum(), 1e-9)
            shares[~others] = 1 - shares[others].sum()
        return dict(zip(self.names, shares.tolist(), strict=True))

    def fields(self, vector: Vector) -> dict[str, float]:
        """Return the probability that a message asks about each field of a service."""
        shares = _softmax(vector[None] @ self.field_weights[:-1] + self.field_weights[-1])[0]
        shares_by_name = zip(self.field_names, shares.tolist(), strict=True)
        return {name: share for name, share in shares_by_name if name}

    def to_bytes(self) -> bytes:
        """Return it as an npz file."""
        file = io.BytesIO()
        np.savez(file, **asdict(self))
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Kinds:
        """Return what :meth:`to_bytes` made."""
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            return cls(
                embedder=str(stored["embedder"]),
                examples=str(stored["examples"]),
                names=tuple(stored["names"].tolist()),
                weights=stored["weights"],
                field_names=tuple(stored["field_names"].tolist()),
                field_weights=stored["field_weights"],
            )


@cache
def shipped() -> Kinds:
    """Return the classifier for the embedded model."""
    return Kinds.from_bytes(SHIPPED.read_bytes())


Texts = Mapping[str, Mapping[str, Sequence[str]]]


@cache
def examples() -> Texts:
    """Return the examples by kind and language."""
    return _file("kinds")


def questions() -> list[tuple[str, str]]:
    """Return questions about a service, each with the field that it asks about, empty for the
    service as a whole; ``{s}`` in a text stands for one of the subjects of its language."""
    content = dict(_file("aspects"))
    subjects = content.pop("subjects")
    rows = [
        (
            text.replace("{s}", subjects[language][(index + 2 * step) % len(subjects[language])]),
            name,
        )
        for name, languages in content.items()
        for language, texts in languages.items()
        for index, text in enumerate(texts)
        for step in range(_SUBJECTS)
    ]
    return [(text, "" if name == WHOLE else name) for text, name in dict.fromkeys(rows)]


def _file(name: str) -> Texts:
    text = (Path(__file__).parent / "examples" / f"{name}.yaml").read_text(encoding="utf-8")
    # As safe as SafeLoader, and ten times as fast.
    content: Texts = yaml.load(text, Loader=yaml.CSafeLoader)
    return content


def examples_digest() -> str:
    """Return the digest of the examples, texts and kinds."""
    return canonical.digest([examples(), questions()])


def kind_of_words(text: str) -> str | None:
    """Return the kind of the example with the same letters and digits; "???" is unclear."""
    words = _folded(text)
    return _by_words().get(words) if words else (UNCLEAR if text.strip() else None)


def train(embed: Callable[[Sequence[str]], Matrix], embedder: str) -> Kinds:
    """Return the classifier that the examples teach with the vectors of ``embed``, one row of
    length 1 a text; takes about two seconds beside them."""
    rows = _rows()
    names = tuple(examples())
    vectors = embed([text for text, _, _ in rows]).astype(np.float64)
    kinds = np.array([names.index(kind) for _, kind, _ in rows])
    logits = left_out(vectors, kinds, np.array([fold for _, _, fold in rows]))
    temperature = best_temperature(logits, kinds)
    questions_by_kind = questions()
    # Who tells a story speaks of time and papers too: inquiries of all sorts ask for no field.
    stories = [index for index, (_, kind, _) in enumerate(rows) if kind == INQUIRY]
    fields = ["" for _ in stories] + [field for _, field in questions_by_kind]
    field_names = tuple(dict.fromkeys(fields))
    field_vectors = np.concatenate(
        [vectors[stories], embed([text for text, _ in questions_by_kind])]
    )
    return Kinds(
        embedder=embedder,
        examples=examples_digest(),
        names=names,
        weights=(fit(vectors, kinds) / temperature).astype(np.float32),
        field_names=field_names,
        field_weights=fit(
            field_vectors, np.array([field_names.index(field) for field in fields])
        ).astype(np.float32),
    )


def left_out(vectors: _Numbers, kinds: _Places, groups: npt.NDArray[np.generic]) -> _Numbers:
    """Return the logits of each row, a column a kind, taught by the rows of other groups."""
    logits = np.zeros((len(vectors), int(kinds.max()) + 1))
    for group in np.unique(groups):
        out = groups == group
        weights = fit(vectors[~out], kinds[~out])
        logits[out] = vectors[out] @ weights[:-1] + weights[-1]
    return logits


def fit(vectors: _Numbers, kinds: _Places) -> _Numbers:
    """Return the weights of least penalised log loss, each kind counted by the root of its number.

    The steps are Newton's with Böhning's bound for the Hessian, accelerated as Nesterov does.
    """
    counts = np.bincount(kinds).astype(np.float64)
    share = 1 / np.sqrt(counts[kinds])
    share *= len(kinds) / share.sum()
    rows = np.c_[vectors, np.ones(len(vectors))]
    target = np.eye(len(counts))[kinds]
    penalty = np.r_[np.full(vectors.shape[1], RIDGE), 1e-6][:, None]
    inverse = np.linalg.inv(0.5 * rows.T @ (share[:, None] * rows) + np.diag(penalty[:, 0]))
    weights = before = np.zeros((rows.shape[1], len(counts)))
    for step in range(STEPS):
        ahead = weights + step / (step + 3) * (weights - before)
        error = share[:, None] * (_softmax(rows @ ahead) - target)
        before, weights = weights, ahead - inverse @ (rows.T @ error + penalty * ahead)
    return weights


def best_temperature(logits: _Numbers, kinds: _Places) -> float:
    """Return what the logits have to be divided by for the least log loss."""
    right = np.arange(len(kinds)), kinds
    tried = np.geomspace(0.3, 3.0, 93)
    loss = [
        -np.log(np.maximum(_softmax(logits / temperature)[right], 1e-12)).mean()
        for temperature in tried
    ]
    return float(tried[np.argmin(loss)])


def _softmax(logits: npt.NDArray[np.floating]) -> _Numbers:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    shares: _Numbers = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _rows() -> list[tuple[str, str, int]]:
    """Return text, kind and fold of each example."""
    return [
        (text, kind, index % FOLDS)
        for kind, languages in examples().items()
        for texts in languages.values()
        for index, text in enumerate(texts)
    ]


def language_of_words(text: str) -> str:
    """Return the language of the greeting or the thanks with the same letters; empty for none, and
    where several languages have it."""
    return _languages().get(_folded(text), "")


@cache
def _languages() -> Mapping[str, str]:
    languages: dict[str, str] = {}
    for kind in ("greeting", "thanks"):
        for language, texts in examples()[kind].items():
            for words in map(_folded, texts):
                languages[words] = "" if languages.get(words, language) != language else language
    return languages


@cache
def _by_words() -> Mapping[str, str]:
    return {_folded(text): kind for text, kind, _ in _rows()}


def _folded(text: str) -> str:
    return _NO_LETTERS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


if __name__ == "__main__":
    from ieim.search.embedders import EmbeddedEmbedder

    model = EmbeddedEmbedder()
    SHIPPED.write_bytes(train(model.documents, model.id).to_bytes())

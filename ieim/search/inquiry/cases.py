"""Which case a message is that asks nothing of an administration (DESIGN decision 23).

By the same words as an example, else by its vector: one ridge regression for all cases, which weigh
alike. What asks something is a case beside them, so that nobody is thanked who wants something.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ieim.pipeline.knowledge import CASES
from ieim.pipeline.ports import Matrix
from ieim.pipeline.reply.guidance import UNCLEAR
from ieim.search.inquiry.examples import others

RIDGE: Final = 20.0
"""As for what a message is at all."""

_OF_TOPIC: Final = {
    "greeting": "greeting",
    "thanks": "thanks",
    "acknowledgement": "thanks",
    "abuse": "abuse",
    "nonsense": UNCLEAR,
}
_ANY_OTHER: Final = "off_topic"
_TELLING: Final = ("greeting", "thanks")
"""What people say in one language and not in passing in another."""
_NO_LETTERS = re.compile(r"[\W_]+")


class Heard(NamedTuple):
    """The case and the language of an example; ``language`` is empty where several have it."""

    case: str
    language: str


def case_of(text: str) -> str:
    """Return the case of an example, empty for one that asks something of an administration."""
    return _cases().get(text, "")


def heard(text: str) -> Heard | None:
    """Return what an example is with the same letters and digits as ``text``, None without one."""
    return _heard().get(_letters(text))


class Cases:
    """What the examples teach. The same vectors teach the same; safe for threads.

    ``vectors`` has a row of length 1 for each example, ``cases`` its :func:`case_of`.
    """

    def __init__(self, vectors: Matrix, cases: Sequence[str]) -> None:
        self.width = vectors.shape[1]
        self._names = [name for name in (*CASES, "") if name in set(cases)]
        known = vectors.astype(np.float64)
        of = np.array([[case == name for name in self._names] for case in cases])
        weight = (of / of.sum(axis=0)).sum(axis=1) * len(known) / len(self._names)
        target = np.where(of, 1.0, -1.0)
        middle, level = weight @ known / weight.sum(), weight @ target / weight.sum()
        shifted = known - middle
        weighted = weight[:, None] * shifted
        matrix = shifted.T @ weighted + RIDGE * np.eye(self.width)
        self._slopes = np.linalg.solve(matrix, weighted.T @ (target - level))
        self._biases = level - middle @ self._slopes

    def of(self, vector: npt.NDArray[np.float32]) -> str:
        """Return the case that a text is most like, ``unclear`` where it is more unlike it than
        like it: of the examples of another case 1 in 100 gets this far."""
        like = vector.astype(np.float64) @ self._slopes + self._biases
        best = int(like.argmax())
        return (self._names[best] or UNCLEAR) if like[best] > 0 else UNCLEAR


@cache
def _cases() -> dict[str, str]:
    return {text: case for text, case, _ in _examples()}


@cache
def _heard() -> dict[str, Heard]:
    found: dict[str, Heard] = {}
    for text, case, language in _examples():
        told = language if case in _TELLING else ""
        before = found.setdefault(_letters(text), Heard(case, told))
        if before.language != told:
            found[_letters(text)] = Heard(before.case, "")
    found.pop("", None)
    return found


def _examples() -> Iterator[tuple[str, str, str]]:
    for topic, language, text in others():
        yield text, _OF_TOPIC.get(topic, _ANY_OTHER), language


def _letters(text: str) -> str:
    return _NO_LETTERS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()

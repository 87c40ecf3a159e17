"""Which passages of a service's entry answer a message: its sentences and items, ranked.

By meaning, by words, and by what a question of its kind is answered with: the lines of
:mod:`ieim.search.inquiry` say how much a message asks for each field, and a question of how long
something takes wants a figure. ``benchmarks/bench_passages.py --fit`` fits the weights and leaves
whole services out (docs/decisions/0042-passages.md).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline import quoting
from ieim.pipeline.facts import facts
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Matrix, Passage
from ieim.search.clauses import stems, topic

FIELDS: Final = (
    *("overview", "applicability_summary", "requirements", "fees"),
    *("processing_time", "how_to_apply", "contact"),
)
"""The fields that have passages."""

_ONE: Final = frozenset({"contact"})
"""Fields that are one passage, however many sentences they have."""

WEIGHTS: Final = np.array([3.27, 3.27, 2.7, 2.52, 1.14, 0.39])
"""Of: nearness, nearness beside the entry's other passages, words, how much the field is asked for,
a figure, a figure where time is asked for."""

AMOUNT: Final = "amount"
"""What questions are taught to ask for that is no field: what one gets. Any passage with a sum or a
share may say it."""

LEAST: Final = 1.4
SURE: Final = 4.0
"""From this score on a passage may answer; from that one on hardly anything else does."""

_CODE = re.compile(r"\b[A-Z]{3}\b")
_PERCENT = re.compile(r"\d\s?[%٪]")

Numbers = NDArray[np.float64]


def of_service(service: Service) -> list[tuple[str, str]]:
    """Return field and text of each passage of ``service``, in the order of the entry."""
    return [(field, text) for field in FIELDS for text in _texts(service, field)]


def _texts(service: Service, field: str) -> Iterator[str]:
    value = getattr(service, field)
    for item in [value] if isinstance(value, str) else value:
        text = " ".join(item.split())
        if field in _ONE:
            yield from [text] if text else []
        else:
            yield from (text[start:end] for start, end in quoting.sentences(text))


@dataclass(frozen=True, slots=True)
class Entry:
    """The passages of a service, read once: ``vectors`` has a row for each."""

    passages: Sequence[tuple[str, str]]
    vectors: Matrix
    words: Sequence[frozenset[str]]
    figures: Numbers
    sums: Numbers

    def features(self, text: str, vector: Matrix, asked: Mapping[str, float]) -> Numbers:
        """Return what the :data:`WEIGHTS` are of, a row for each passage: ``vector`` is that of
        ``text``, ``asked`` says how much it asks for each field."""
        near = (self.vectors @ vector).astype(np.float64)
        return np.column_stack(
            [
                near,
                near - near.mean(),
                self._shares(text),
                np.maximum(
                    np.array([asked.get(field, -1.0) for field, _ in self.passages]),
                    np.where(self.sums, asked.get(AMOUNT, -1.0), -1.0),
                ),
                self.figures,
                asked.get("processing_time", -1.0) * self.figures,
            ]
        )

    def _shares(self, text: str) -> Numbers:
        """Return the share of the topic of ``text`` that is in each passage; rare words count
        most."""
        count = Counter(stem for words in self.words for stem in words)
        weights = {w: math.log(len(self.words) / count.get(w, 1)) for w in topic(text)}
        whole = sum(weights.values()) or 1.0
        shares = [sum(weights[w] for w in words & weights.keys()) / whole for words in self.words]
        return np.array(shares)


def read(service: Service, vectors: Matrix) -> Entry:
    """Return the entry of a ``service`` with the ``vectors`` of its passages' texts."""
    passages = of_service(service)
    texts = [text for _, text in passages]
    return Entry(
        passages,
        vectors,
        [frozenset(stems(text)) for text in texts],
        np.array([float(any(map(str.isdigit, text))) for text in texts]),
        np.array([float(_has_sum(text)) for text in texts]),
    )


def _has_sum(text: str) -> bool:
    # A knowledge may have a currency of its own.
    found = facts(text, currencies=set(_CODE.findall(text)))
    return bool(_PERCENT.search(text)) or any(each.kind == "money" for each in found)


def rank(
    entry: Entry, text: str, vector: Matrix, asked: Mapping[str, float], clear: Collection[str]
) -> list[Passage]:
    """Return the passages of ``entry``, the best answer to ``text`` first.

    What stands in a field that is ``clear`` to be asked for is an answer, however it is written.
    """
    scores = entry.features(text, vector, asked) @ WEIGHTS
    meant = np.array([field in clear for field, _ in entry.passages])
    meant |= (entry.sums > 0) & (AMOUNT in clear)
    scores = np.where(meant, np.maximum(scores, LEAST), scores)
    order = np.argsort(-scores, kind="stable")
    found = [(entry.passages[place], float(scores[place])) for place in order]
    return [Passage(field, said, score) for (field, said), score in found]

"""BM25 over the fields of a release's services and over what people ask of them.

A word counts by its best field and a share of its others. What is returned is the share of a
question's weight that stands in a service, so that scores of different questions compare. How much
a question has in common with the background (see :mod:`ieim.search.ranking`) is returned likewise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline.knowledge import Release, Service
from ieim.search.analysis import stems

_SATURATION: Final = 1.2
_LENGTH: Final = 0.6
_TIE_BREAKER: Final = 0.2
"""The share that a word's other fields add to its best one."""

_BOOSTS: Final = (1.5, 1.5, 1.0, 0.8, 1.0)
"""Of: name, categories, what it is about, the rest of the entry, example questions."""

_LITTLE: Final = 1.0
"""The weight of a common word: a text that says no more says little of what it is about."""

_MOST: Final = 64
"""So many distinct words of a text are looked up: pasted text has no end."""

Scores = NDArray[np.float64]


class BM25Index:
    """The words of entries, each a text a field in the order of :data:`_BOOSTS`, and of the lines
    of a background; safe for threads."""

    def __init__(self, entries: Sequence[tuple[str, ...]], background: Sequence[str] = ()) -> None:
        fields = [[Counter(stems(text)) for text in texts] for texts in entries]
        self._size = len(fields)
        lengths = np.array([[count.total() for count in counts] for counts in fields], dtype=float)
        self._averages = np.maximum(lengths.mean(axis=0), 1.0) if fields else lengths
        frequency = Counter(stem for counts in fields for stem in set().union(*counts))
        self._rarity = {stem: self._idf(many) for stem, many in frequency.items()}
        postings: dict[str, list[tuple[int, float]]] = {}
        for index, counts in enumerate(fields):
            for stem, impact in self._impacts(counts).items():
                postings.setdefault(stem, []).append((index, impact * self._rarity[stem]))
        self._postings = {
            stem: (np.array([p for p, _ in rows]), np.array([s for _, s in rows]))
            for stem, rows in postings.items()
        }
        lines = [frozenset(stems(line)) for line in background]
        self._weights = np.array([sum(map(self._weight, line)) for line in lines])
        self._lines: dict[str, list[int]] = {}
        for index, line in enumerate(lines):
            for stem in line:
                self._lines.setdefault(stem, []).append(index)

    def likeness(self, text: str) -> float:
        """Return how like the nearest line of the background is: the weight of the words that both
        have, of that of all their words."""
        shared, weight = np.zeros(len(self._weights)), 0.0
        for stem in list(dict.fromkeys(stems(text)))[:_MOST]:
            weight += self._weight(stem)
            shared[self._lines.get(stem, [])] += self._weight(stem)
        return float((shared / (weight + self._weights - shared + _LITTLE)).max(initial=0.0))

    def shares(self, text: str) -> Scores:
        """Return the share of the weight of ``text`` in each entry, 0.0 where no word is."""
        scores = np.zeros(self._size)
        weight = 0.0
        for stem in list(dict.fromkeys(stems(text)))[:_MOST]:
            if stem in self._postings:
                places, impacts = self._postings[stem]
                scores[places] += impacts
            weight += self._weight(stem)
        return scores / (weight + _LITTLE)

    def share(self, text: str, fields: Sequence[str]) -> float:
        """Return the share of the weight of ``text`` in an entry of these fields, which the index
        need not have: words are as rare as in those that it has."""
        words = list(dict.fromkeys(stems(text)))[:_MOST]
        impacts = self._impacts([Counter(stems(field)) for field in fields])
        score = sum(impacts.get(stem, 0.0) * self._weight(stem) for stem in words)
        return score / (sum(map(self._weight, words)) + _LITTLE)

    def _impacts(self, counts: Sequence[Counter[str]]) -> Mapping[str, float]:
        """Return what each word of an entry's fields adds when it is asked for, rarity aside."""
        lengths = np.array([count.total() for count in counts], dtype=float)
        damping = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / self._averages)
        return _impacts(counts, damping.tolist())

    def _weight(self, stem: str) -> float:
        """Return what a word weighs: one that no service has is rarer than any; a date or a
        reference that none has says nothing."""
        if stem in self._rarity:
            return self._rarity[stem]
        return 0.0 if any(map(str.isdigit, stem)) else self._idf(0)

    def _idf(self, many: int) -> float:
        return math.log(1 + (self._size - many + 0.5) / (many + 0.5))


def _impacts(counts: Sequence[Counter[str]], damping: Sequence[float]) -> Mapping[str, float]:
    """Return what each word of a service's fields adds when it is asked for, rarity aside."""
    values: dict[str, list[float]] = {}
    for count, damped, boost in zip(counts, damping, _BOOSTS, strict=True):
        for stem, times in count.items():
            values.setdefault(stem, []).append(boost * times * (_SATURATION + 1) / (times + damped))
    return {
        stem: max(occurrences) + _TIE_BREAKER * (sum(occurrences) - max(occurrences))
        for stem, occurrences in values.items()
    }


def situation_texts(release: Release) -> list[tuple[str, ...]]:
    """Return the texts of each situation by field, in the order of :data:`_BOOSTS`."""
    questions: dict[str, list[str]] = {}
    for question in release.questions:
        questions.setdefault(question.situation, []).append(question.text)
    return [
        (situation.name, "", situation.description, "", "\n".join(questions.get(situation.key, ())))
        for situation in release.situations.values()
    ]


def service_texts(release: Release) -> list[tuple[str, ...]]:
    """Return the texts of each service by field, in the order of :data:`_BOOSTS`."""
    questions: dict[tuple[str, str], list[str]] = {}
    for question in release.questions:
        questions.setdefault((question.agency, question.service), []).append(question.text)

    def of(service: Service) -> tuple[str, ...]:
        keys = ((service.agency, key) for key in service.categories)
        entries = [release.categories[key] for key in keys if key in release.categories]
        rest = (service.fees, service.processing_time, service.contact)
        return (
            service.name,
            "\n".join(word for entry in entries for word in (entry.value, *entry.keywords)),
            f"{service.overview}\n{service.applicability_summary}",
            "\n".join((*service.requirements, *service.how_to_apply, *rest)),
            "\n".join(questions.get((service.agency, service.key), ())),
        )

    return [of(service) for service in release.services.values()]

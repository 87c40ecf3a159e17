"""How near in meaning services are to a message: as a whole, word by word, and by topic.

A service is near where its text means the like, where each word of the message that says something
has a word of the like meaning in it, and where both are about the same topic of an administration.
So one word that a service happens to have pulls nobody there whose other words it has not.
Figures: docs/decisions/0043-near-enough.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.ports import Matrix
from ieim.search import examples
from ieim.search.clauses import PLACEHOLDER
from ieim.search.inquiry import Reading

WORDS: Final = 0.75
TOPIC: Final = 0.2
"""What the likeness of the words and of the topic weigh, where that of the whole text weighs 1."""

_STEEP: Final = 4
"""How much more a rare word says than a common one: a power of its rarity."""

MOST_WORDS: Final = 24
"""Of a longer message the words that say most are compared."""

_LONGEST: Final = 40
_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

Numbers = NDArray[np.float32]


def words_of(text: str) -> Iterable[str]:
    """Yield the words of ``text``; where a script does not separate them, pairs of characters."""
    for found in _WORD.findall(PLACEHOLDER.sub(" ", text).casefold()):
        if _UNSPACED.search(found):
            yield from (found[place : place + 2] for place in range(max(1, len(found) - 1)))
        elif 1 < len(found) <= _LONGEST:
            yield found


def says(word: str) -> float:
    """Return how much a word says of what a message is about, 0 to 1: less where more people use
    it, whatever they ask for."""
    many, counts = _counted()
    return float((math.log(2 * many / (2 * counts[word] + 1)) / math.log(2 * many)) ** _STEEP)


@cache
def _counted() -> tuple[int, Counter[str]]:
    texts = examples.topics()
    return len(texts), Counter(word for text in texts for word in set(words_of(text)))


def vocabulary(release: Release) -> list[str]:
    """Return every word by which a service of ``release`` is compared, in order."""
    return sorted(set().union(*_words_by_service(release)))


def _words_by_service(release: Release) -> list[set[str]]:
    def text(service: Service) -> str:
        keys = ((service.agency, key) for key in service.categories)
        entries = [release.categories[key] for key in keys if key in release.categories]
        parts = [part for entry in entries for part in (entry.value, *entry.keywords)]
        return " ".join((service.name, *parts, service.overview, service.applicability_summary))

    return [set(words_of(text(service))) for service in release.services.values()]


class Nearness:
    """Compares messages with the services of one release, whose vectors are ``services``.

    ``words`` are the vectors of its :func:`vocabulary`. Without a ``reading`` no topic is compared.
    """

    def __init__(
        self, release: Release, services: Matrix, words: Matrix, reading: Reading | None
    ) -> None:
        self._services = services
        by_service = _words_by_service(release)
        self._places = {word: place for place, word in enumerate(sorted(set().union(*by_service)))}
        # Every service also has a last, empty word, that none is without one.
        empty = np.zeros((1, services.shape[1]), dtype=np.float32)
        self._words = np.concatenate([words, empty]) if len(words) else empty
        rows = [[*map(self._places.__getitem__, own), len(words)] for own in by_service]
        self._flat = np.array([place for row in rows for place in row], dtype=np.int32)
        self._starts = np.cumsum([0, *map(len, rows[:-1])]) if rows else np.zeros(0, dtype=int)
        self._reading = reading if reading is not None and len(reading.topics) else None
        self._topics = self._reading.topics_of(services) if self._reading is not None else None

    def unknown(self, weights: Mapping[str, float]) -> list[str]:
        """Return those words of a message that need vectors of their own."""
        return [word for word in weights if word not in self._places]

    def to(self, vector: Numbers, weights: Mapping[str, float], unknown: Matrix) -> Numbers:
        """Return how near each service is to a message with this vector and these words.

        ``unknown`` has the vectors of :meth:`unknown`.
        """
        near: Numbers = self._services @ vector
        if self._topics is not None and self._reading is not None:
            near = near + TOPIC * (self._topics @ self._reading.topics_of(vector[None])[0])
        total = sum(weights.values())
        if not total:
            return near
        own = dict(zip(self.unknown(weights), unknown, strict=True))
        rows = [own[w] if w in own else self._words[self._places[w]] for w in weights]
        alike = self._words @ np.stack(rows).T
        best = np.maximum.reduceat(alike[self._flat], self._starts, axis=0)
        shares = np.array(list(weights.values()), dtype=np.float32) / total
        covered: Numbers = best @ shares
        return near + np.float32(WORDS) * covered


def weighed(parts: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return what the words of weighed texts say, of the most that are compared."""
    found: dict[str, float] = {}
    for text, weight in parts:
        for word in words_of(text):
            found[word] = max(found.get(word, 0.0), weight * says(word))
    most = sorted(found, key=lambda word: -found[word])[:MOST_WORDS]
    return {word: found[word] for word in most}

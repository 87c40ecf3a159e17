"""The final score of what the index found: fielded BM25 whose length matters less, and word pairs.

The library's BM25 has one fixed normalisation by length. Services are described at very different
length, some by their name alone, and then it takes a short text for a good one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ieim.pipeline.stages.base import APART
from ieim.search.analysis import query_words, synonyms
from ieim.search.clauses import clauses, forms, has_digit, stems

_SATURATION = 1.6
_LENGTH = 0.3
"""BM25's k1 and b."""

_TIE_BREAKER = 0.2
"""The share that a word's other fields add to its best one."""

_TOPICLESS = 0.5
"""What a word weighs that says how one asks rather than what about."""

_ALIKE = 0.25
"""And one that is a synonym of a word of the question."""

_NAMED = 0.3
"""What a score gains when the question says the whole name."""

_PAIR = 0.45
_MOST_PAIRS = 3
"""What it gains by each pair of neighbours in the question that are such in the name too."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Query:
    """``words``: the distinct words as ``(stem, plain token)``, those that are only alike last.
    ``weights``: what each stem counts. ``stated``: the stems that stand in the text. ``naming``:
    those by which a name is meant. ``pairs``: neighbouring stems."""

    words: Sequence[tuple[str, str]]
    weights: Mapping[str, float]
    stated: frozenset[str]
    naming: frozenset[str]
    pairs: frozenset[Pair]


def read_query(text: str) -> Query:
    """Return the query of ``text``; words to a machine and placeholders are no part of it.

    ``text`` is a message and, each after ``APART``, what was asked before it and what was answered.
    Only the message's words stand for those that are alike, and only they can mean a name.
    """
    message, _, talk = text.partition(APART)
    read = clauses(message)
    parts = [*read, *(clause for part in talk.split(APART, 1) for clause in clauses(part))]
    found = [stems(part) for part in parts]
    topicless = forms().topicless
    naming = {stem for part in found[: len(read)] for stem in part}
    weights = {stem: _TOPICLESS if stem in topicless else 1.0 for part in found for stem in part}
    stated = frozenset(weights)
    words = [word for word in query_words("\n".join(parts)) if word[0] in weights]
    for stem in sorted(naming):
        for other, plain in synonyms(stem):
            if other not in weights:
                words.append((other, plain))
                weights[other] = _ALIKE
                naming.add(other)
    pairs = frozenset(pair for part in found for pair in pairwise(part))
    return Query(words, weights, stated, frozenset(naming), pairs)


class Scorer:
    """Scores the items of one index, by their position.

    ``texts`` has each item's fields in the order of ``boosts``; the first field is its name.
    """

    def __init__(self, texts: Sequence[Sequence[str]], boosts: Sequence[float]) -> None:
        analysed = [[stems(text) for text in fields] for fields in texts]
        counted = [[Counter(words) for words in fields] for fields in analysed]
        lengths = [[count.total() for count in fields] for fields in counted]
        averages = [sum(column) / len(lengths) or 1.0 for column in zip(*lengths, strict=True)]
        holding = Counter(stem for fields in counted for stem in set().union(*fields))
        rarity = {stem: _rarity(many, len(texts)) for stem, many in holding.items()}
        self._rarity = rarity
        self._impacts = [
            _impacts(fields, sizes, averages, boosts, rarity)
            for fields, sizes in zip(counted, lengths, strict=True)
        ]
        names = [fields[0] for fields in analysed]
        self._names = [_shares({stem: rarity[stem] for stem in name}) for name in names]
        self._pairs = [frozenset(pairwise(name)) for name in names]

    def score(self, position: int, query: Query) -> float:
        """Return the score of one item, 0.0 when no word of the question stands in it."""
        impacts, weights, name = self._impacts[position], query.weights, self._names[position]
        words = math.fsum(impacts[stem] * weights[stem] for stem in weights if stem in impacts)
        named = math.fsum(name[stem] * weights[stem] for stem in name if stem in query.naming)
        pairs = len(query.pairs & self._pairs[position])
        return words * (1 + _NAMED * named + _PAIR * min(pairs, _MOST_PAIRS))

    def mass(self, query: Query) -> float:
        """Return what the stated words weigh, by their rarity. A word that no item has is
        rarer than any that one has, unless it has no topic or is a number: a date, a reference."""
        unknown, topicless = _rarity(0, len(self._impacts)), forms().topicless
        return math.fsum(
            query.weights[stem]
            * self._rarity.get(stem, 0.0 if stem in topicless or has_digit(stem) else unknown)
            for stem in query.stated & query.weights.keys()
        )


def _rarity(many: int, of: int) -> float:
    return math.log(1 + (of - many + 0.5) / (many + 0.5))


def _shares(name: Mapping[str, float]) -> dict[str, float]:
    """Return what each word is of a name: rare words are more of it, all together are 1."""
    whole = math.fsum(name.values())
    return {stem: weight / whole for stem, weight in name.items()}


def _impacts(
    fields: Sequence[Counter[str]],
    sizes: Sequence[int],
    averages: Sequence[float],
    boosts: Sequence[float],
    rarity: Mapping[str, float],
) -> dict[str, float]:
    """Return what each word of an item adds to its score when it is asked for."""
    parts: dict[str, list[float]] = {}
    for count, size, average, boost in zip(fields, sizes, averages, boosts, strict=True):
        damping = _SATURATION * (1 - _LENGTH + _LENGTH * size / average)
        for stem, times in count.items():
            value = boost * times * (_SATURATION + 1) / (times + damping)
            parts.setdefault(stem, []).append(value)
    return {
        stem: rarity[stem] * (max(values) + _TIE_BREAKER * (sum(values) - max(values)))
        for stem, values in parts.items()
    }

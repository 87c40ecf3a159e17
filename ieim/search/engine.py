"""One tantivy index over the items of a kind: built once, then only read.

Readers in several threads do not disturb each other. A citizen's text never meets a query parser:
it comes as words, and each word counts once, by its best field and a share of its others.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Generic, TypeVar

import numpy as np
import tantivy
from numpy.typing import NDArray

from ieim.pipeline.knowledge import Agency, Category, Service
from ieim.pipeline.ports import Ranked
from ieim.search.analysis import PLAIN, STEMMED, fold
from ieim.search.scoring import Query, Scorer, read_query

Item = TypeVar("Item", Agency, Category, Service)

_TIE_BREAKER = 0.2
"""The share that a word's other fields add to its best one."""

_POOL = 200
"""How many of the best services and categories are scored anew, and have a say in the ranking of
agencies."""

MEANING = 2.0
"""What meaning weighs, where the share of the question that words find weighs 1. Chosen by leaving
one catalogue out; between 1.5 and 3 little changes (docs/decisions/0017-meaning.md)."""

_ABOUT = 3
"""So many items a talk may be about."""

_MOST_WORDS = 32
"""Of a longer text the rarest words are searched: common ones cost most and tell least."""

_WRITER_HEAP = 256_000_000
"""Bytes; a ceiling, not an allocation. Large enough that one segment holds a release, so that
documents keep the order of the index and ties fall in that order."""


@cache
def _executor(_process: int) -> ThreadPoolExecutor:
    """Return the threads of this process that search; a forked process has none of its parent's.

    A thread keeps whatever of its stack was once used, and a search uses up to 64 KiB of it: too
    much for each of hundreds of turns that wait for a model. More threads than two would only have
    more stacks: all share one interpreter.
    """
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="search")


Near = NDArray[np.float32]
"""How much nearer in meaning each item is to a question than the average item, by position."""


@dataclass(frozen=True, slots=True)
class Field(Generic[Item]):
    """A searched field: its name, the text of an item in it, its weight, its analysis."""

    name: str
    text: Callable[[Item], str]
    boost: float
    stemmed: bool = True


class Index(Generic[Item]):
    """A searchable sequence of ``items``, which are referred to by their position in it.

    ``owner`` gives the id of an item's agency, None for agencies themselves; ``scorer`` orders
    anew what the library found best.
    """

    def __init__(
        self,
        items: Sequence[Item],
        fields: Sequence[Field[Item]],
        owner: Callable[[Item], str] | None = None,
        scorer: Scorer | None = None,
    ) -> None:
        self._items: Sequence[Item] = items
        self._fields: Sequence[Field[Item]] = fields
        self._scorer = scorer
        self._owners = [owner(item) for item in items] if owner else []
        # By value: an index is kept for a release that is read anew by each run.
        self._places: dict[Item, int] = {item: place for place, item in enumerate(items)}
        self._positions: dict[str, list[int]] = defaultdict(list)
        for position, name in enumerate(self._owners):
            self._positions[name].append(position)
        self._owner_numbers = {name: number for number, name in enumerate(self._positions)}
        builder = tantivy.SchemaBuilder()
        for field in fields:
            tokenizer = "stemmed" if field.stemmed else "plain"
            builder.add_text_field(field.name, tokenizer_name=tokenizer, index_option="freq")
        builder.add_unsigned_field("owner", indexed=True)
        builder.add_unsigned_field("position", fast=True)
        self._schema = builder.build()
        self._searcher = self._build()

    def _build(self) -> tantivy.Searcher:
        index = tantivy.Index(self._schema)
        index.register_tokenizer("stemmed", STEMMED)
        index.register_tokenizer("plain", PLAIN)
        writer = index.writer(heap_size=_WRITER_HEAP, num_threads=1)
        for position, item in enumerate(self._items):
            document = tantivy.Document()
            for field in self._fields:
                document.add_text(field.name, fold(field.text(item)))
            document.add_unsigned("position", position)
            if self._owners:
                document.add_unsigned("owner", self._owner_numbers[self._owners[position]])
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index.searcher()

    @property
    def items(self) -> Sequence[Item]:
        """The items by their position."""
        return self._items

    def place(self, item: Item) -> int:
        """Return the position of an item."""
        return self._places[item]

    def shortlist(
        self, query: str, owners: Collection[str] | None, limit: int
    ) -> Sequence[Ranked[Item]]:
        """Return the ``limit`` best items of ``owners`` (None: of all), matches first."""
        return self.ranked(self._shares(query, limit, owners), limit, owners)

    def fused(
        self, query: str, near: Near, owners: Collection[str] | None, limit: int
    ) -> Sequence[Ranked[Item]]:
        """Return the ``limit`` best items of ``owners`` by words and meaning together.

        ``near`` has, by position, how much nearer each item is than the average.
        """
        scores = self.fused_scores(query, near, owners)
        order = [int(place) for place in np.argsort(-scores, kind="stable")]
        if owners is not None:
            among = {place for name in owners for place in self._positions.get(name, ())}
            order = [place for place in order if place in among]
        return [
            Ranked(self._items[place], rank, float(scores[place]), MEANING * float(near[place]))
            for rank, place in enumerate(order[: max(limit, 0)], start=1)
        ]

    def fused_scores(
        self, query: str, near: Near, owners: Collection[str] | None = None
    ) -> NDArray[np.float64]:
        """Return the fused score of every item, by position."""
        scores = MEANING * near.astype(np.float64)
        hits = self._shares(query, _POOL, owners)
        # Without a scorer the library's own numbers have no scale: the best of them counts 1.
        best = 1.0 if self._scorer is not None else max((score for _, score in hits), default=1.0)
        for place, score in hits:
            scores[place] += score / best
        return scores

    def evidence(
        self, text: str, near: Near | None, items: Sequence[Item]
    ) -> tuple[list[float], float]:
        """Return the score of each of ``items``, and the best of all."""
        none = np.zeros(len(self._items), dtype=np.float32)
        scores = self.fused_scores(text, none if near is None else near)
        if not len(scores):
            return [], 0.0
        return [float(scores[self._places[item]]) for item in items], float(scores.max())

    def best_by_owner(self, query: str, near: Near) -> dict[str, tuple[float, float]]:
        """Return, for each owner, the fused score of its best item and what is meaning's of it."""
        scores = self.fused_scores(query, near)
        best = {name: places[scores[places].argmax()] for name, places in self._positions.items()}
        return {n: (float(scores[i]), MEANING * float(near[i])) for n, i in best.items()}

    def _shares(
        self, text: str, limit: int, owners: Collection[str] | None
    ) -> list[tuple[int, float]]:
        """Return the best matches, scored by the share of the question that is in them."""
        query = self._narrowed(read_query(text))
        hits = self.search(query, limit, owners)
        if self._scorer is None or not hits:
            return hits
        # Where no word of the text weighs, matches are by words that are only alike: no share.
        mass = self._scorer.mass(query) or math.inf
        return [(position, score / mass) for position, score in hits]

    def shares(self, message: str, talk: str) -> tuple[float, float]:
        """Return the share of ``message`` that its best item has, and the best of those few that
        come first for ``talk``; 0.0 without a scorer or any word."""
        query = self._narrowed(read_query(message))
        mass = self._scorer.mass(query) if self._scorer is not None else 0.0
        if self._scorer is None or not mass:
            return 0.0, 0.0
        best = max((score for _, score in self.search(query, 1)), default=0.0)
        about = self.search(read_query(talk), _ABOUT)
        scores = (self._scorer.score(place, query) for place, _ in about)
        return best / mass, max(scores, default=0.0) / mass

    def search(
        self,
        query: Query,
        limit: int,
        owners: Collection[str] | None = None,
    ) -> list[tuple[int, float]]:
        """Return at most ``limit`` matches as ``(position, score)``, best first."""
        query = self._narrowed(query)
        if not query.words or limit < 1:
            return []
        pool = limit if self._scorer is None else max(limit, _POOL)
        found = self._matches(query.words, pool, owners)
        if self._scorer is not None:
            score = self._scorer.score
            found = [(place, score(place, query)) for place, _ in found]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def _matches(
        self, words: Sequence[tuple[str, str]], limit: int, owners: Collection[str] | None
    ) -> list[tuple[int, float]]:
        should, must = tantivy.Occur.Should, tantivy.Occur.Must
        terms = tantivy.Query.boolean_query([(should, self._word(*word)) for word in words])
        if owners is not None:
            numbers = [self._owner_numbers[name] for name in owners if name in self._positions]
            among = tantivy.Query.term_set_query(self._schema, "owner", numbers)
            # The filter chooses, it must not score.
            unscored = tantivy.Query.boost_query(among, 0.0)
            terms = tantivy.Query.boolean_query([(must, terms), (must, unscored)])
        search = _executor(os.getpid()).submit(self._searcher.search, terms, limit, count=False)
        hits = search.result().hits
        positions = self._searcher.fast_field_values("position", [place for _, place in hits])
        found = zip(positions, (score for score, _ in hits), strict=True)
        return [(int(position or 0), score) for position, score in found]

    def _narrowed(self, query: Query) -> Query:
        if len(query.words) <= _MOST_WORDS:
            return query
        words = sorted(query.words, key=self._frequency)[:_MOST_WORDS]
        weights = {stem: query.weights[stem] for stem, _ in words}
        return replace(query, words=words, weights=weights, naming=query.naming & weights.keys())

    def _frequency(self, word: tuple[str, str]) -> tuple[bool, int]:
        """Return what orders words: the rarest first, those that no item has last."""
        stem, plain = word
        count = sum(
            self._searcher.doc_freq(field.name, stem if field.stemmed else plain)
            for field in self._fields
        )
        return count == 0, count

    def _word(self, stem: str, plain: str) -> tantivy.Query:
        terms = [
            tantivy.Query.boost_query(
                tantivy.Query.term_query(
                    self._schema, field.name, stem if field.stemmed else plain, "freq"
                ),
                field.boost,
            )
            for field in self._fields
        ]
        return tantivy.Query.disjunction_max_query(terms, _TIE_BREAKER)

    def best_of_owners(self, query: Query) -> dict[str, float]:
        """Return every owner's best score: many middling items are no reason to ask an agency."""
        best: dict[str, float] = {}
        for position, score in self.search(query, _POOL):
            best.setdefault(self._owners[position], score)
        return best

    def ranked(
        self,
        hits: Sequence[tuple[int, float]],
        limit: int,
        owners: Collection[str] | None = None,
    ) -> Sequence[Ranked[Item]]:
        """Return ``hits`` as candidates, filled up to ``limit`` with unmatched ones of
        ``owners`` in index order."""
        matched = {position for position, _ in hits}
        pool: Sequence[int] | range = range(len(self._items))
        if owners is not None:
            pool = sorted(p for name in set(owners) for p in self._positions.get(name, ()))
        chosen = list(hits[: max(limit, 0)])
        for position in pool:
            if len(chosen) >= limit:
                break
            if position not in matched:
                chosen.append((position, 0.0))
        return [
            Ranked(self._items[position], rank, score)
            for rank, (position, score) in enumerate(chosen, start=1)
        ]

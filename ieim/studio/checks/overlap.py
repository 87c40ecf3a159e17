"""Checks for entries that take each other's questions, by searching for the words of each.

Only entries that share words with another one of their agency are asked for, so this stays quick
where there are many. The index is the one that turns use: once built, it is built for them too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Protocol, TypeAlias, TypeVar

from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.knowledge import Category, Release, Service
from ieim.pipeline.ports import Query, Ranked
from ieim.search import index_for
from ieim.search.analysis import fold, query_words
from ieim.studio.checks.rules import Remark, few, warning

CLOSE = 0.8
"""A second one with this share of the first one's probability is as good."""
_ALIKE = 0.6
"""Two names with this share of common words are worth a search."""


class _Entry(Protocol):
    @property
    def agency(self) -> str: ...
    @property
    def key(self) -> str: ...


Item = TypeVar("Item", bound=_Entry)
Progress: TypeAlias = Callable[[int, int], object]
"""Called before each search with how many are made, of how many."""


def overlapping(bundle: Bundle, release: Release, progress: Progress) -> Iterator[Remark]:
    """Yield services and categories that another one of the agency outranks, or equals, for their
    own words; ``release`` is the bundle's."""
    yield from _shared_keywords(bundle.dictionary)
    search = index_for(release)
    entries: list[tuple[Service | Category, str]] = [
        *((service, service.name) for service in suspects(bundle.services, lambda s: s.name)),
        *((entry, entry.value) for entry in suspects(bundle.dictionary, lambda e: e.value)),
    ]
    pairs: set[tuple[str, frozenset[str]]] = set()
    for index, (entry, words) in enumerate(entries):
        progress(index, len(entries))
        ranking = search.rank(Query(words))
        ranked = ranking.services if isinstance(entry, Service) else ranking.categories
        matches: Sequence[Ranked[Any]] = ranked(agencies=[entry.agency], limit=2)
        if len(matches) < 2:
            continue
        first, second = matches
        is_close = second.probability >= CLOSE * first.probability and entry in (
            first.item,
            second.item,
        )
        if isinstance(entry, Service) and is_close:
            other = second.item if first.item == entry else first.item
            pair = (entry.agency, frozenset((entry.key, other.key)))
            if pair not in pairs:
                pairs.add(pair)
                yield _close(entry, other)
        elif first.item != entry and not is_close:
            yield _outranked(entry, first.item)


def _outranked(entry: Service | Category, better: Any) -> Remark:
    if isinstance(entry, Service):
        sentence = (
            f"Who asks for it by its name is led to “{better.name[:120]}” ({better.key}): say in "
            "its name what sets it apart."
        )
        return warning("service.outranked", "services", entry, sentence)
    sentence = (
        f"Who asks in its words is led to “{_name(better)}” ({better.key}): give it keywords of "
        "its own."
    )
    return warning("category.outranked", "dictionary", entry, sentence)


def suspects(entries: Sequence[Item], text: Callable[[Item], str]) -> Iterator[Item]:
    """Yield the entries whose words another one of the same agency mostly has too, in order."""
    words = [frozenset(stem for stem, _ in query_words(text(entry))) for entry in entries]
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, stems in enumerate(words):
        for stem in stems:
            holders[entries[index].agency, stem].append(index)
    for index, stems in enumerate(words):
        agency = entries[index].agency
        # Whoever has most of the words has one of these: the rarest that are too many to miss.
        missed = len(stems) - int(len(stems) * _ALIKE)
        rare = sorted(stems, key=lambda stem: len(holders[agency, stem]))[: missed + 1]
        others = set(chain.from_iterable(holders[agency, stem] for stem in rare)) - {index}
        if any(len(stems & words[other]) >= _ALIKE * len(stems) for other in others):
            yield entries[index]


def _shared_keywords(dictionary: Sequence[Category]) -> Iterator[Remark]:
    owners: dict[tuple[str, str], list[Category]] = defaultdict(list)
    for entry in dictionary:
        for words in {fold(words.strip()) for words in (entry.value, *entry.keywords)} - {""}:
            owners[entry.agency, words].append(entry)
    for (_, words), (first, *others) in owners.items():
        if others:
            names = few([f"“{_name(other)}”" for other in others])
            sentence = (
                f"It shares “{words[:80]}” with {names}, so they take each other's questions: "
                "leave it with the one that it fits best."
            )
            yield warning("keyword.shared", "dictionary", first, sentence)


def _name(entry: Category) -> str:
    return entry.value[:80] or entry.key


def _close(service: Service, other: Service) -> Remark:
    if fold(service.name) == fold(other.name):
        problem = f"has the same name as {other.key}"
    else:
        problem = f"is hard to tell from “{other.name[:120]}” ({other.key})"
    sentence = f"It {problem}: make their names differ by what sets them apart, or keep one."
    return warning("service.duplicate", "services", service, sentence)

"""Checks for entries that take each other's questions, by searching for the words of each.

Only entries that share words with another one of their agency are asked for, so this stays quick
where there are many. The index is the one that turns use: once built, it is built for them too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Protocol, TypeAlias, TypeVar

from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.knowledge import Category, Release, Service
from ieim.pipeline.ports import Query
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
    services = list(suspects(bundle.services, lambda service: service.name))
    categories = list(suspects(bundle.dictionary, lambda entry: entry.value))
    total = len(services) + len(categories)
    pairs: set[tuple[str, frozenset[str]]] = set()
    for index, service in enumerate(services):
        progress(index, total)
        ranking = search.rank(Query(service.name))
        matches = ranking.services(agencies=[service.agency], limit=2)
        if len(matches) < 2:
            continue
        first, second = matches
        other = second.item if first.item == service else first.item
        close = second.probability >= CLOSE * first.probability and service in (
            first.item,
            second.item,
        )
        pair = (service.agency, frozenset((service.key, other.key)))
        if close and pair not in pairs:
            pairs.add(pair)
            yield _close(service, other)
        elif not close and first.item != service:
            sentence = (
                f"Who asks for it by its name is led to “{other.name[:120]}” ({other.key}): say in "
                "its name what sets it apart."
            )
            yield warning("service.outranked", "services", service, sentence)
    for index, entry in enumerate(categories, start=len(services)):
        progress(index, total)
        ranked = search.rank(Query(entry.value)).categories(agencies=[entry.agency], limit=2)
        if ranked and ranked[0].item != entry:
            same = len(ranked) > 1 and ranked[1].item == entry
            if not (same and ranked[1].probability >= CLOSE * ranked[0].probability):
                better = ranked[0].item
                sentence = (
                    f"Who asks in its words is led to “{_name(better)}” ({better.key}): give it "
                    "keywords of its own."
                )
                yield warning("category.outranked", "dictionary", entry, sentence)


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

"""Entries that take each other's questions: found by asking the search for each by its own words.

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
from ieim.search import index_for
from ieim.search.analysis import fold, query_words
from ieim.studio.checks.remarks import Remark, Severity

OUTRANKED = "service.outranked"
DUPLICATE = "service.duplicate"
KEYWORD = "keyword.shared"
CATEGORY = "category.outranked"

CLOSE = 0.97
"""A second one with this share of the score is as good as the first."""
_ALIKE = 0.6
"""Two names with this share of common words are worth a search."""
_SHOWN = 3


class _Entry(Protocol):
    @property
    def agency(self) -> str: ...
    @property
    def key(self) -> str: ...


Item = TypeVar("Item", bound=_Entry)
Told: TypeAlias = Callable[[int, int], object]


def stealing(bundle: Bundle, release: Release, told: Told) -> Iterator[Remark]:
    """Yield services and categories that another one of the agency outranks, or equals, for their
    own words; ``release`` is the bundle's. ``told`` hears before each search how many are made, of
    how many."""
    yield from _shared_keywords(bundle.dictionary)
    index = index_for(release)
    services = list(suspects(bundle.services, lambda each: each.name))
    categories = list(suspects(bundle.dictionary, lambda each: each.value))
    total = len(services) + len(categories)
    said: set[tuple[str, frozenset[str]]] = set()
    for done, service in enumerate(services):
        told(done, total)
        found = index.services(service.name, agencies=[service.agency], limit=2)
        if len(found) < 2 or found[0].score <= 0:
            continue
        first, second = found
        other = second.item if first.item == service else first.item
        close = second.score >= CLOSE * first.score and service in (first.item, second.item)
        pair = (service.agency, frozenset((service.key, other.key)))
        if close and pair not in said:
            said.add(pair)
            yield _close(service, other)
        elif not close and first.item != service:
            yield _service_outranked(service, other)
    for done, entry in enumerate(categories, start=len(services)):
        told(done, total)
        ranked = index.categories(entry.value, agencies=[entry.agency], limit=2)
        if ranked and ranked[0].score > 0 and ranked[0].item != entry:
            same = len(ranked) > 1 and ranked[1].item == entry
            if not (same and ranked[1].score >= CLOSE * ranked[0].score):
                yield _category_outranked(entry, ranked[0].item)


def suspects(entries: Sequence[Item], text: Callable[[Item], str]) -> Iterator[Item]:
    """Yield the entries whose words another one of the same agency mostly has too, in order."""
    words = [frozenset(stem for stem, _ in query_words(text(entry))) for entry in entries]
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, found in enumerate(words):
        for stem in found:
            holders[entries[place].agency, stem].append(place)
    for place, mine in enumerate(words):
        agency = entries[place].agency
        # Whoever has most of the words has one of these: the rarest that are too many to miss.
        missed = len(mine) - int(len(mine) * _ALIKE)
        rare = sorted(mine, key=lambda stem: len(holders[agency, stem]))[: missed + 1]
        others = set(chain.from_iterable(holders[agency, stem] for stem in rare)) - {place}
        if any(len(mine & words[other]) >= _ALIKE * len(mine) for other in others):
            yield entries[place]


def _shared_keywords(dictionary: Sequence[Category]) -> Iterator[Remark]:
    owners: dict[tuple[str, str], list[Category]] = defaultdict(list)
    for entry in dictionary:
        for words in {fold(words.strip()) for words in (entry.value, *entry.keywords)} - {""}:
            owners[entry.agency, words].append(entry)
    for (agency, words), entries in owners.items():
        if len(entries) > 1:
            more = f" and {len(entries) - 1 - _SHOWN:,} more" if len(entries) - 1 > _SHOWN else ""
            others = ", ".join(f"“{_named(e)}”" for e in entries[1 : 1 + _SHOWN]) + more
            sentence = (
                f"It shares “{words[:80]}” with {others}, so they take each other's questions: "
                "leave it with the one that it fits best."
            )
            name = f"{agency} {entries[0].key}"
            yield Remark(KEYWORD, Severity.WARNING, "dictionary", name, agency, sentence)


def _named(entry: Category) -> str:
    return entry.value[:80] or entry.key


def _close(service: Service, other: Service) -> Remark:
    if fold(service.name) == fold(other.name):
        says = f"has the same name as {other.key}"
    else:
        says = f"is hard to tell from “{other.name[:120]}” ({other.key})"
    sentence = f"It {says}: make their names differ by what sets them apart, or keep one."
    return _remark(DUPLICATE, service, sentence)


def _service_outranked(service: Service, other: Service) -> Remark:
    sentence = (
        f"Who asks for it by its name is led to “{other.name[:120]}” ({other.key}): say in its "
        "name what sets it apart."
    )
    return _remark(OUTRANKED, service, sentence)


def _category_outranked(entry: Category, other: Category) -> Remark:
    sentence = (
        f"Who asks in its words is led to “{_named(other)}” ({other.key}): give it keywords of "
        "its own."
    )
    name = f"{entry.agency} {entry.key}"
    return Remark(CATEGORY, Severity.WARNING, "dictionary", name, entry.agency, sentence)


def _remark(code: str, service: Service, sentence: str) -> Remark:
    name = f"{service.agency} {service.key}"
    return Remark(code, Severity.WARNING, "services", name, service.agency, sentence)

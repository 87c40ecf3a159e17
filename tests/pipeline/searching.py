"""A search whose probabilities a test can say, and which else counts words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.ports import Key, Linked, Passages, Query, Ranked, Span
from tests.pipeline.build import RELEASE

NOWHERE = 0.9
"""The probability of no service where no word of a message is in any."""


class FakeRanking:
    """A ranking of services by the ``odds`` that are given; what is left of 1 is outside."""

    def __init__(
        self,
        release: Release,
        odds: Mapping[Key, float],
        about: Collection[Key],
        by_meaning: bool,
        situations: Mapping[str, float],
    ) -> None:
        self._situations = sorted(situations.items(), key=lambda each: -each[1])
        self.release, self.odds, self.by_meaning = release, odds, by_meaning
        self._keys = sorted(odds, key=lambda key: -odds[key])
        self.first = sum(odds[key] for key in self._keys[:1])
        self.four = sum(odds[key] for key in self._keys[:4])
        self.outside = 1.0 - sum(odds.values())
        self.goes_on = self._keys[0] in about if self._keys else False

    def probability(self, service: Key) -> float:
        return self.odds.get(service, 0.0)

    def services(self, *, agencies: Collection[str] | None = None, limit: int) -> Any:
        keys = [key for key in self._keys if agencies is None or key[0] in agencies]
        ranked = enumerate(keys[:limit], 1)
        return [Ranked(self.release.services[key], n, self.odds[key]) for n, key in ranked]

    def situations(self, *, limit: int) -> Any:
        ranked = enumerate(self._situations[:limit], 1)
        return [Ranked(self.release.situations[key], n, p) for n, (key, p) in ranked]

    def agencies(self, *, limit: int) -> Any:
        known = self.release.agencies
        ids = dict.fromkeys([*(agency for agency, _ in self._keys), *known])
        best = {
            agency: max((self.odds[k] for k in self._keys if k[0] == agency), default=0.0)
            for agency in ids
        }
        return [Ranked(known[key], n, best[key]) for n, key in enumerate([*ids][:limit], 1)]

    def categories(self, *, agencies: Collection[str], limit: int) -> Any:
        fields: dict[Key, float] = {}
        for ranked in self.services(agencies=agencies, limit=len(self._keys)):
            for key in ranked.item.categories:
                fields.setdefault((ranked.item.agency, key), ranked.probability)
        for key in self.release.categories:
            if key[0] in agencies:
                fields.setdefault(key, 0.0)
        entries = [(self.release.categories[key], p) for key, p in fields.items()]
        return [Ranked(item, n, p) for n, (item, p) in enumerate(entries[:limit], 1)]


class FakeSearch:
    """A search over a release: by the ``odds`` of services where they are given, else by words.

    ``kinds`` are by text; ``links`` are what a service sends on to; ``parts`` are the texts of
    several requests, ``situations`` the probabilities of situations, by key.
    """

    embedder = "fake"

    def __init__(
        self,
        release: Release = RELEASE,
        *,
        odds: Mapping[Key, float] | None = None,
        kinds: Mapping[str, str] | None = None,
        links: Mapping[Key, Sequence[Service]] | None = None,
        parts: Sequence[str] = (),
        by_meaning: bool = True,
        situations: Mapping[str, float] | None = None,
    ) -> None:
        self._situations = situations or {}
        self.release, self.odds, self.by_meaning = release, odds, by_meaning
        self._kinds, self._links, self._parts = kinds or {}, links or {}, parts
        self.asked: list[Query] = []

    def rank(self, query: Query) -> FakeRanking:
        self.asked.append(query)
        odds = dict(self.odds) if self.odds is not None else self._by_words(query)
        for key in query.without:
            odds.pop(key, None)
        return FakeRanking(self.release, odds, query.about, self.by_meaning, self._situations)

    def _by_words(self, query: Query) -> dict[Key, float]:
        for text in (query.text, query.before):
            shared = {
                key: len(_words(f"{service.name} {service.overview}") & _words(text))
                for key, service in self.release.services.items()
            }
            if total := sum(shared.values()):
                return {key: 0.98 * shared[key] / total for key in shared}
        return dict.fromkeys(self.release.services, (1 - NOWHERE) / len(self.release.services))

    def requests(self, text: str) -> list[Span]:
        places = [(text.find(part), len(part)) for part in self._parts]
        return [Span(start, start + size) for start, size in places if start >= 0]

    def kinds(self, text: str) -> dict[str, float]:
        return {self._kinds.get(text, "inquiry"): 0.95}

    def passages(self, text: str, service: Service) -> Passages | None:
        return None

    def next_services(self, service: Service) -> list[Linked]:
        result = self._links.get((service.agency, service.key), ())
        return [Linked(to, "Then see to it.") for to in result]


def _words(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[^\W\d_]{4,}", text.casefold())}

"""Which services an entry sends on to: those that a sentence of it names, by words and meaning.

"Wait until the birth is in the civil register" names the service "Register a birth". A sentence
names a service when it has the words that set the service's name apart, is nearer to it than to
others, and says more than the entry's own name does. Editors see the links and can put others in
their place (``next_services`` of a service). Figures: docs/decisions/0045-next-services.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ieim.pipeline.knowledge import NO_NEXT, Service
from ieim.pipeline.ports import Linked, Matrix
from ieim.search.analysis import stems

NAMES: Final = 1.0
"""From this sum on, of the share of a name's words and the nearness to it, a sentence names it."""
NEAR: Final = 0.28
NEW: Final = 0.5
APART: Final = 0.24
"""The least nearness; the least share of the name that is not of the entry's own; the least lead
before the second service: what could be two is neither."""

MOST: Final = 2
"""So many services an entry sends on to, those of its steps first."""

_FIELDS: Final = ("how_to_apply", "requirements")


class Links:
    """The links between ``services``, read as they were written: a translation has the same."""

    def __init__(self, services: Sequence[Service]) -> None:
        self._services = services
        self._words = [frozenset(stems(service.name)) for service in services]
        counts = Counter(word for linked in services for word in _words_of(linked))
        many = len(services) + 1
        self._says = {word: math.log(many / (count + 0.5)) for word, count in counts.items()}
        self._by_reference = {linked.reference: index for index, linked in enumerate(services)}

    def original(self, service: Service) -> Service | None:
        """Return ``service`` as it was written; None for one that is not of the release."""
        index = self._by_reference.get(service.reference)
        return None if index is None else self._services[index]

    def written(self, service: Service) -> list[Linked] | None:
        """Return the links that editors wrote for ``service``; None where they wrote none."""
        if not service.next_services:
            return None
        refs = (ref for ref in service.next_services if ref != NO_NEXT)
        places = (self._by_reference.get(ref) for ref in refs)
        return [Linked(self._services[index], "") for index in places if index is not None]

    def found(
        self,
        service: Service,
        passages: Sequence[tuple[str, str]],
        vectors: Matrix,
        names: Matrix,
    ) -> list[Linked]:
        """Return the services that the ``passages`` of ``service`` name, each with the sentence;
        ``names`` has the vector of the name of each service."""
        if len(self._services) < 2:
            return []
        own_index = self._by_reference[service.reference]
        links: dict[int, Linked] = {}
        for wanted_field in _FIELDS:
            for (field, text), vector in zip(passages, vectors, strict=True):
                if field == wanted_field:
                    before = _needs(service, field, text)
                    for index in self._named(text, names @ vector, own_index):
                        links.setdefault(index, Linked(self._services[index], text, before))
        return list(links.values())[:MOST]

    def _named(self, text: str, near: Matrix, own_index: int) -> Iterator[int]:
        near = near - near.mean()
        words = frozenset(stems(text))
        shares = [self._share(words & name, name) for name in self._words]
        scores = near + np.array(shares)
        scores[own_index] = -math.inf
        second, best = np.argsort(scores)[-2:]
        new = self._share((words & self._words[best]) - self._words[own_index], self._words[best])
        apart = scores[best] - scores[second]
        if scores[best] >= NAMES and near[best] >= NEAR and new >= NEW and apart >= APART:
            yield int(best)

    def _share(self, words: frozenset[str], name: frozenset[str]) -> float:
        whole = sum(self._says[word] for word in name)
        return sum(self._says[word] for word in words) / whole if whole > 0 else 0.0


def _needs(service: Service, field: str, text: str) -> bool:
    """Whether what a sentence names comes before the service: papers do, and so does what the first
    step waits for; a later step may hand something on."""
    return field == "requirements" or text in " ".join(service.how_to_apply[0].split())


def _words_of(service: Service) -> set[str]:
    texts = (service.overview, service.applicability_summary, service.processing_time)
    lists = (*service.requirements, *service.how_to_apply)
    return set(stems(" ".join((service.name, *texts, service.fees, *lists))))

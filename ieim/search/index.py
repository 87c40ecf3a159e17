"""The shortlist: BM25 over one release, in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence

from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import Ranked
from ieim.search.analysis import query_words
from ieim.search.engine import Field, Index

_KEPT = 4
"""Indexes kept in a process: the current release and those of turns that began before it."""


class ReleaseIndex:
    """The :class:`~ieim.pipeline.ports.Shortlist` of one release.

    No method raises for any text. A text without a word that the index knows (empty, symbols only,
    stop words only) gives the entries in index order with score 0.0. Equal scores fall in index
    order. Fewer matches than ``limit`` are filled up with entries that did not match.
    """

    def __init__(self, release: Release) -> None:
        self._agencies = Index(list(release.agencies.values()), _agency_fields())
        self._categories = Index(
            list(release.categories.values()), _category_fields(), owner=lambda c: c.agency
        )
        self._services = Index(
            list(release.services.values()), _service_fields(release), owner=lambda s: s.agency
        )
        self._positions = {agency: place for place, agency in enumerate(release.agencies)}

    def agencies(self, query: str, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Rank agencies by their own text and by that of their best services and categories."""
        words = query_words(query)
        scores: dict[int, float] = defaultdict(float)
        for position, score in self._agencies.search(words, len(self._positions)):
            scores[position] += score
        for entries in (self._services, self._categories):
            for owner, score in entries.best_of_owners(words):
                if owner in self._positions:
                    scores[self._positions[owner]] += score
        hits = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
        return self._agencies.ranked(hits, limit)

    def categories(
        self, query: str, *, agencies: Sequence[str], limit: int
    ) -> Sequence[Ranked[Category]]:
        """Rank dictionary entries of ``agencies``; ids that the release has not are ignored."""
        return self._categories.shortlist(query, agencies, limit)

    def services(
        self, query: str, *, agencies: Sequence[str] | None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Rank services of ``agencies`` (None: of all); unknown ids are ignored."""
        return self._services.shortlist(query, agencies, limit)


def _agency_fields() -> list[Field[Agency]]:
    return [
        Field("name", lambda agency: agency.name, 2.0),
        Field("description", lambda agency: agency.description, 1.0),
        # Ids are often the abbreviation that people use ("SSA").
        Field(
            "plain", lambda agency: f"{agency.id} {agency.name} {agency.description}", 1.0, False
        ),
    ]


def _category_fields() -> list[Field[Category]]:
    def words(category: Category) -> str:
        return "\n".join((category.value, *category.keywords))

    return [Field("words", words, 2.0), Field("plain", words, 1.0, False)]


def _service_fields(release: Release) -> list[Field[Service]]:
    labels: Mapping[tuple[str, str], str] = {
        key: "\n".join((entry.value, *entry.keywords)) for key, entry in release.categories.items()
    }

    def categories(service: Service) -> str:
        return "\n".join(labels.get((service.agency, key), "") for key in service.categories)

    def about(service: Service) -> str:
        return f"{service.overview}\n{service.applicability_summary}"

    def rest(service: Service) -> str:
        parts = (service.fees, service.processing_time, service.contact)
        return "\n".join((*service.requirements, *service.how_to_apply, *parts))

    def everything(service: Service) -> str:
        return "\n".join((service.name, categories(service), about(service), rest(service)))

    return [
        Field("name", lambda service: service.name, 2.0),
        Field("categories", categories, 2.0),
        Field("about", about, 1.0),
        Field("rest", rest, 0.8),
        Field("plain", everything, 1.0, False),
    ]


class _Slot:
    """A place for one index, with a lock of its own: one release's build stalls no other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._index: ReleaseIndex | None = None

    def index(self, release: Release) -> ReleaseIndex:
        with self._lock:
            if self._index is None:
                self._index = ReleaseIndex(release)
            return self._index


_slots: OrderedDict[str, _Slot] = OrderedDict()
_slots_lock = threading.Lock()


def index_for(release: Release) -> ReleaseIndex:
    """Return the index of ``release``, built once per process and content (``sha256``).

    Safe to call from several threads; the last few indexes are kept.
    """
    with _slots_lock:
        slot = _slots.setdefault(release.sha256, _Slot())
        _slots.move_to_end(release.sha256)
        while len(_slots) > _KEPT:
            _slots.popitem(last=False)
    return slot.index(release)

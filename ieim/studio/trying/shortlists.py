"""What the search gave to each stage, and what came right behind the cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import Asked, Part, Ranked, Shortlist, T
from ieim.pipeline.stages.slots import with_agencies
from ieim.studio.evaluation.memory import MemoryStore

BEYOND = 5
"""How many candidates behind the limit are shown."""

Kind = Literal["agencies", "categories", "services"]
_SHOWN: Mapping[str, tuple[Kind, str]] = {
    "agency_detect_v1": ("agencies", "agencies"),
    "category_select_v1": ("categories", "KnowledgeBase_Dictionary"),
    "semantic_analysis_v1": ("categories", "KnowledgeBase_Dictionary"),
    "service_select_v1": ("services", "service_index"),
    "multi_agency_service_answer_v1": ("services", "service_index"),
}
"""Whose choice a stage makes, and the slot of its input that it is made from."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One search: the best ``limit`` of ``found`` were candidates, the others came behind them.

    ``of`` is how many there are to choose from.
    """

    kind: Kind
    found: Sequence[Ranked[Any]]
    limit: int
    of: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line of a shortlist. ``cut`` says why a model was not given it: by the ``limit`` of
    candidates or by the token ``budget``; empty where it was."""

    rank: int
    score: float
    agency: str
    key: str
    name: str
    cut: Literal["", "limit", "budget"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A shortlist as it is shown: ``rest`` more were not looked at."""

    kind: Kind
    candidates: tuple[Candidate, ...]
    limit: int
    rest: int


class Listening:
    """A shortlist that remembers what it was asked for, by stage.

    What it returns is exactly what the shortlist behind it returns for the same limit.
    """

    def __init__(self, shortlist: Shortlist, release: Release) -> None:
        self._shortlist = shortlist
        self._release = release
        self.stage = ""
        self.heard: dict[str, dict[tuple[str, ...], Heard]] = {}

    @property
    def embedder(self) -> str:
        """The embedder's id."""
        return self._shortlist.embedder

    def asked(self, text: str, *, in_a_talk: bool) -> Asked | None:
        """How much a message is like what is asked of an administration."""
        return self._shortlist.asked(text, in_a_talk=in_a_talk)

    def case(self, text: str) -> str:
        """Which case a message is, should it ask nothing."""
        return self._shortlist.case(text)

    def goes_on(self, query: str) -> float:
        """How surely a message goes on with its talk."""
        return self._shortlist.goes_on(query)

    def parts(self, text: str) -> Sequence[Part]:
        """What a message asks for."""
        return self._shortlist.parts(text)

    def asked_about(self, text: str) -> Sequence[str]:
        """Which fields of a service a message asks about."""
        return self._shortlist.asked_about(text)

    def evidence(self, text: str, services: Sequence[Service]) -> tuple[Sequence[float], float]:
        """What services share with a message alone."""
        return self._shortlist.evidence(text, services)

    def agencies(self, query: str, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Rank agencies."""

        def search(limit: int) -> Sequence[Ranked[Agency]]:
            return self._shortlist.agencies(query, limit=limit)

        return self._hear("agencies", (), search, limit, len(self._release.agencies))

    def categories(
        self, query: str, *, agencies: Sequence[str], limit: int
    ) -> Sequence[Ranked[Category]]:
        """Rank dictionary entries of ``agencies``."""

        def search(limit: int) -> Sequence[Ranked[Category]]:
            return self._shortlist.categories(query, agencies=agencies, limit=limit)

        entries = self._release.categories_by_agency
        of = sum(len(entries.get(agency, ())) for agency in set(agencies))
        return self._hear("categories", tuple(agencies), search, limit, of)

    def services(
        self, query: str, *, agencies: Sequence[str] | None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Rank services of ``agencies`` (of all agencies for None)."""

        def search(limit: int) -> Sequence[Ranked[Service]]:
            return self._shortlist.services(query, agencies=agencies, limit=limit)

        if agencies is None:
            return search(limit)  # examples for the agencies, nothing to choose from
        entries = self._release.services_by_agency
        of = sum(len(entries.get(agency, ())) for agency in set(agencies))
        return self._hear("services", tuple(agencies), search, limit, of)

    def _hear(
        self,
        kind: Kind,
        agencies: tuple[str, ...],
        search: Callable[[int], Sequence[Ranked[T]]],
        limit: int,
        of: int,
    ) -> Sequence[Ranked[T]]:
        found = Heard(kind, search(limit + BEYOND), limit, of)
        self.heard.setdefault(self.stage, {})[(kind, *agencies)] = found
        return search(limit)


class ListeningStore(MemoryStore):
    """A store that tells a listening shortlist which stage begins."""

    def __init__(self, shortlist: Listening) -> None:
        super().__init__()
        self._shortlist = shortlist

    def begin(self, stage: str) -> None:
        """Say that the searches to come are for this stage."""
        self._shortlist.stage = stage


def shown(stage: str, listening: Listening, store: MemoryStore) -> tuple[Shown, ...]:
    """Return what a stage could choose from: one list an agency where it searched in each."""
    if stage not in _SHOWN:
        return ()
    kind, slot = _SHOWN[stage]
    given = _given(store, stage, slot)
    return tuple(
        _shown(heard, given)
        for heard in listening.heard.get(stage, {}).values()
        if heard.kind == kind
    )


def _given(store: MemoryStore, stage: str, slot: str) -> frozenset[tuple[str, str]]:
    """Return the ids (agency and key) that the first attempt was given."""
    for record in store.records.get(stage, ()):
        asked = with_agencies(json.loads(record.request.messages[2].content))
        return frozenset(
            (entry["agencyId"], entry.get("serviceKey", entry.get("key", "")))
            for entry in asked[slot]
        )
    return frozenset()


def _shown(heard: Heard, given: frozenset[tuple[str, str]]) -> Shown:
    candidates = tuple(_candidate(ranked, heard, given) for ranked in heard.found)
    return Shown(heard.kind, candidates, heard.limit, heard.of - len(candidates))


def _candidate(ranked: Ranked[Any], heard: Heard, given: frozenset[tuple[str, str]]) -> Candidate:
    item: Agency | Category | Service = ranked.item
    if isinstance(item, Agency):
        agency, key, name = item.id, "", item.name
    else:
        agency, key = item.agency, item.key
        name = item.name if isinstance(item, Service) else item.value or item.key
    cut: Literal["", "limit", "budget"] = ""
    if (agency, key) not in given:
        cut = "limit" if ranked.rank > heard.limit else "budget"
    return Candidate(ranked.rank, ranked.score, agency, key, name, cut)

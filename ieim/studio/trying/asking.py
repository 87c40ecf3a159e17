"""Asks one question of the draft and of the published release. Nothing of it is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from django.utils import timezone
from django.utils.translation import gettext

from conversations.queueing import queue_after_commit
from conversations.turns import running
from ieim.administration import selectors as administration
from ieim.knowledge import crisis
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.crisis import Looked
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.vectors import made_for
from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import Model, Ranked, Shortlist
from ieim.pipeline.stages.slots import with_agencies
from ieim.studio.drafts import selectors as drafts
from ieim.studio.evaluation.running import Asker, MemoryStore, Run, language_of

BEYOND = 5
"""How many candidates behind the limit are shown."""

TRAIN: Final = "ieim.studio.tasks.train_draft"
"""The task in which a worker trains with the draft's examples of danger."""

ROOM = 2_000
"""Tokens (an upper bound) that the largest candidate takes: where less is left of a stage's budget,
the budget is what left candidates out."""

Which = Literal["draft", "published"]
Kind = Literal["agencies", "categories", "services"]
_CHOICES: Mapping[str, tuple[Kind, str]] = {
    "agency_detect_v1": ("agencies", "agencies"),
    "category_select_v1": ("categories", "KnowledgeBase_Dictionary"),
    "semantic_analysis_v1": ("categories", "KnowledgeBase_Dictionary"),
    "service_select_v1": ("services", "service_index"),
    "multi_agency_service_answer_v1": ("services", "service_index"),
}
"""What a stage chooses among, and the slot of its input with the candidates."""


class NoModel(Exception):
    """No answer could be had; the message is a plain sentence for staff."""


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
class ShortlistView:
    """The candidates of one search of a stage; ``rest`` more are not shown. ``limit`` is how many a
    model is given, where the budget has room for them."""

    kind: Kind
    candidates: tuple[Candidate, ...]
    limit: int
    rest: int


@dataclass(frozen=True, slots=True)
class Search:
    """One search: the best ``limit`` of ``found`` were candidates; ``of`` is how many there are."""

    kind: Kind
    found: Sequence[Ranked[Any]]
    limit: int
    of: int


class RecordingShortlist:
    """Passes on to a shortlist, and keeps what was ranked by stage, :data:`BEYOND` more each."""

    def __init__(self, shortlist: Shortlist, release: Release) -> None:
        self._shortlist = shortlist
        self._release = release
        self.stage = ""
        self.searches: dict[str, dict[tuple[str, ...], Search]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shortlist, name)

    def agencies(self, query: str, *, limit: int) -> Any:
        of = len(self._release.agencies)
        return self._ranked("agencies", query, limit, of)

    def categories(self, query: str, *, agencies: Sequence[str], limit: int) -> Any:
        of = _count(self._release.categories_by_agency, agencies)
        return self._ranked("categories", query, limit, of, agencies=agencies)

    def services(self, query: str, *, agencies: Sequence[str] | None, limit: int) -> Any:
        if agencies is None:  # examples for the agencies, nothing to choose from
            return self._shortlist.services(query, agencies=None, limit=limit)
        of = _count(self._release.services_by_agency, agencies)
        return self._ranked("services", query, limit, of, agencies=agencies)

    def _ranked(
        self, kind: Kind, query: str, limit: int, of: int, **agencies: Sequence[str]
    ) -> Sequence[Ranked[Any]]:
        rank = getattr(self._shortlist, kind)
        found = rank(query, limit=limit + BEYOND, **agencies)
        searches = self.searches.setdefault(self.stage, {})
        searches[(kind, *agencies.get("agencies", ()))] = Search(kind, found, limit, of)
        ranked: Sequence[Ranked[Any]] = rank(query, limit=limit, **agencies)
        return ranked


def _count(entries: Mapping[str, Sequence[Any]], agencies: Sequence[str]) -> int:
    return sum(len(entries.get(agency, ())) for agency in set(agencies))


class RecordingStore(MemoryStore):
    """A store that tells a recording shortlist which stage begins."""

    def __init__(self, shortlist: RecordingShortlist) -> None:
        super().__init__()
        self._shortlist = shortlist

    def begin(self, stage: str) -> None:
        self._shortlist.stage = stage


@dataclass(frozen=True, slots=True)
class Side:
    """The draft or the published release, and the turn that was run over it.

    ``release`` is in the ``language`` of the question, as far as there are translations.
    ``screening`` is what was seen of danger, with examples that a worker has trained with.
    """

    which: Which
    release: Release
    language: str
    model: str
    shortlist: RecordingShortlist
    run: Run
    screening: Looked

    def shortlists(self, stage: str) -> tuple[ShortlistView, ...]:
        """Return what a stage could choose from: one list an agency where it searched in each."""
        if stage not in _CHOICES:
            return ()
        kind, slot = _CHOICES[stage]
        given = self._given(stage, slot)
        cut: Literal["limit", "budget"] = "budget" if self._is_full(stage) else "limit"
        searches = self.shortlist.searches.get(stage, {}).values()
        return tuple(_shortlist(search, given, cut) for search in searches if search.kind == kind)

    def _is_full(self, stage: str) -> bool:
        """Whether the first attempt had no room for another candidate within its token budget."""
        records = self.run.store.records.get(stage)
        count = records[0].count if records else None
        most = count.budget.input if count else None
        return count is not None and most is not None and count.input + ROOM > most

    def _given(self, stage: str, slot: str) -> frozenset[tuple[str, str]]:
        """Return the ids (agency and key) that the first attempt was given."""
        records = self.run.store.records.get(stage)
        if not records:
            return frozenset()
        payload = with_agencies(json.loads(records[0].request.messages[2].content))
        return frozenset(
            (entry["agencyId"], entry.get("serviceKey", entry.get("key", "")))
            for entry in payload[slot]
        )


def _shortlist(
    search: Search, given: frozenset[tuple[str, str]], cut_by: Literal["limit", "budget"]
) -> ShortlistView:
    candidates: list[Candidate] = []
    cut = 0
    for ranked in search.found:
        item: Agency | Category | Service = ranked.item
        if isinstance(item, Agency):
            agency, key, name = item.id, "", item.name
        else:
            agency, key = item.agency, item.key
            name = item.name if isinstance(item, Service) else item.value or item.key
        was_given = (agency, key) in given
        cut += not was_given
        if was_given or cut <= BEYOND:
            why: Literal["", "limit", "budget"] = (
                "" if was_given else "limit" if ranked.rank > search.limit else cut_by
            )
            candidates.append(
                Candidate(ranked.rank, round(ranked.score, 2), agency, key, name, why)
            )
    limit = search.limit if cut_by == "budget" else sum(not each.cut for each in candidates)
    return ShortlistView(search.kind, tuple(candidates), limit, search.of - len(candidates))


def ask_both(text: str, *, model: Model | None = None) -> tuple[Side, ...]:
    """Ask the draft and the published release as a citizen would, at once; the draft comes first.

    There is one side only where nothing is published, or where the draft is the published release
    to the byte. Raises :class:`ieim.knowledge.bundles.bundle.BundleError` for a draft that cannot
    be used, and :class:`NoModel`.
    """
    model = model or running.current_model()
    draft, published = drafts.draft().release(0), knowledge.current_release()
    prepared = [_prepared("draft", draft, text, model)]
    if prepared[0][0].screening.untrained:
        queue_after_commit(TRAIN)
    if published is not None and published.sha256 != draft.sha256:
        prepared.append(_prepared("published", published, text, model))
    with ThreadPoolExecutor(len(prepared)) as pool:
        # The pipeline touches no database here, so threads need no connection.
        runs = pool.map(
            lambda pair: pair[1].run(text, store=pair[0].run.store, risks=pair[0].screening.risks),
            prepared,
        )
        sides = [replace(side, run=run) for (side, _), run in zip(prepared, runs, strict=True)]
    for run in (side.run for side in sides):
        if run.unavailable:
            message = gettext("The model cannot be reached: {reason}")
            raise NoModel(message.format(reason=run.reason))
        if run.outcome is None:
            raise NoModel(
                gettext("The question could not be asked: an error of ours is in the log.")
            )
    return tuple(sides)


def _prepared(which: Which, release: Release, text: str, model: Model) -> tuple[Side, Asker]:
    """Return a side that was not asked yet, and what asks it."""
    language = language_of(text, (), release)
    view = release.in_language(language)
    shortlist = RecordingShortlist(made_for(view), view)
    directive = notices.runtime_directive(release, timezone.now())
    # The language is the text's, so no other view is ever searched.
    settled = running.options(persona=administration.current().persona)
    asker = Asker(model, view, cast(Shortlist, shortlist), settled, directive)
    run = Run(store=RecordingStore(shortlist))
    screening = crisis.look_stored(text, release.risk_examples)
    return Side(which, view, language, model.name, shortlist, run, screening), asker

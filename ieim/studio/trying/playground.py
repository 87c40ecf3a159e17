"""Ask the draft and the published release one question. Nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from django.utils.translation import gettext

from conversations.queueing import queue_after_commit
from conversations.turns import running
from ieim.knowledge import crisis
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.crisis import Screening
from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import Model, Ranked
from ieim.pipeline.stages.base import Inputs
from ieim.pipeline.stages.slots import with_agencies
from ieim.studio.drafts import selectors as drafts
from ieim.studio.evaluation.running import QuestionRun, QuestionRunner, language_of
from ieim.studio.models import Proposal
from ieim.studio.proposals.selectors import sides as sides_of

BEYOND = 5
"""Candidates that are shown although no model was given them."""

TRAIN: Final = "ieim.studio.tasks.train_draft"
"""The task in which a worker trains with the draft's examples of danger."""

LARGEST_CANDIDATE = 2_000
"""Upper bound of a candidate's tokens: if less is left of a stage's budget, the budget is what left
candidates out."""

Which = Literal["draft", "published"]
Kind = Literal["agencies", "categories", "services"]
_SLOTS: Mapping[str, tuple[Kind, str]] = {
    "agency_detect_v1": ("agencies", "agencies"),
    "category_select_v1": ("categories", "KnowledgeBase_Dictionary"),
    "semantic_analysis_v1": ("categories", "KnowledgeBase_Dictionary"),
    "service_select_v1": ("services", "service_index"),
    "multi_agency_service_answer_v1": ("services", "service_index"),
}
"""The kind of candidates that a stage chooses from, and their slot in its input."""


class NoModel(Exception):
    """No answer could be had; the message is for staff."""


@dataclass(frozen=True, slots=True)
class Side:
    """The draft or the published release, and the run of a question over it.

    ``screening`` has the signs of danger, found with examples that a worker has trained with.
    """

    which: Which
    text: str
    runner: QuestionRunner
    screening: Screening
    run: QuestionRun

    def shortlists(self, stage: str) -> list[dict[str, Any]]:
        """Return the candidates of a stage, one list an agency where each is searched by itself.

        A list has its ``kind``, the ``limit`` of candidates for a model, ``candidates`` and
        ``rest``, the number of those not shown. A candidate has ``rank``, ``probability``,
        ``agency``, ``key``, ``name`` and ``cut``: why no model was given it ("limit" or "budget").
        """
        records = self.run.store.records.get(stage)
        if stage not in _SLOTS or not records:
            return []
        kind, slot = _SLOTS[stage]
        payload = with_agencies(json.loads(records[0].request.messages[2].content))
        given_keys = {
            (row["agencyId"], row.get("serviceKey", row.get("key", ""))) for row in payload[slot]
        }
        budget = records[0].count.budget.input
        is_full = budget is not None and records[0].count.input + LARGEST_CANDIDATE > budget
        return [
            _shortlist(kind, ranked, given_keys, self.runner.options.limits[kind], is_full=is_full)
            for ranked in _rankings(
                kind, self.runner.inputs(self.text), sorted({a for a, _ in given_keys})
            )
        ]


def _rankings(
    kind: Kind, inputs: Inputs, agencies: Sequence[str]
) -> Iterator[Sequence[Ranked[Any]]]:
    """Yield every candidate, best first, as the stages search for them."""
    release = inputs.context.release
    if kind == "agencies":
        yield inputs.ranking.agencies(limit=len(release.agencies))
        return
    for agency in agencies:
        ranking = inputs.ranking_of(agency)
        search = ranking.categories if kind == "categories" else ranking.services
        yield search(agencies=[agency], limit=len(getattr(release, kind)))


def _shortlist(
    kind: Kind,
    ranked: Sequence[Ranked[Any]],
    given: Collection[tuple[str, str]],
    limit: int,
    *,
    is_full: bool,
) -> dict[str, Any]:
    candidates: list[dict[str, Any]] = []
    not_given = 0
    for match in ranked:
        item: Agency | Category | Service = match.item
        agency, key = (item.id, "") if isinstance(item, Agency) else (item.agency, item.key)
        cut = ""
        if (agency, key) not in given:
            not_given += 1
            cut = "budget" if is_full and (kind != "agencies" or match.rank <= limit) else "limit"
        if not cut or not_given <= BEYOND:
            candidates.append(
                {
                    "rank": match.rank,
                    "probability": round(match.probability, 2),
                    "agency": agency,
                    "key": key,
                    "name": item.value or key if isinstance(item, Category) else item.name,
                    "cut": cut,
                }
            )
    return {
        "kind": kind,
        "candidates": candidates,
        "limit": limit if is_full else len(ranked) - not_given,
        "rest": len(ranked) - len(candidates),
    }


def ask_both(
    text: str, *, proposal: Proposal | None = None, model: Model | None = None
) -> list[Side]:
    """Ask the draft and the published release as a citizen would, at once; the draft comes first.

    With a ``proposal`` what that makes of the release stands in the draft's place. There is one
    side only where nothing is published, or where the draft equals the published release to the
    byte.

    Raises:
        BundleError: the draft cannot be used.
        NoModel: no answer could be had.
    """
    model = model or running.current_model()
    draft = drafts.draft().release(0) if proposal is None else sides_of(proposal)[1]
    published = knowledge.current_release()
    sides = [_prepare("draft", draft, text, model)]
    if sides[0].screening.untrained:
        queue_after_commit(TRAIN)
    if published is not None and published.sha256 != draft.sha256:
        sides.append(_prepare("published", published, text, model))
    with ThreadPoolExecutor(len(sides)) as pool:
        # The pipeline uses no database here, so threads need no connection.
        runs = pool.map(lambda side: side.runner.run(text, risks=side.screening.risks), sides)
        sides = [replace(side, run=run) for side, run in zip(sides, runs, strict=True)]
    for side in sides:
        if side.run.unavailable:
            message = gettext("The model cannot be reached: {reason}")
            raise NoModel(message.format(reason=side.run.reason))
        if side.run.outcome is None:
            raise NoModel(
                gettext("The question could not be asked: an error of ours is in the log.")
            )
    return sides


def _prepare(side: Which, release: Release, text: str, model: Model) -> Side:
    """Return a side that has not been run yet."""
    # The language is the text's, so no other view is searched.
    language = language_of(text, (), release)
    runner = QuestionRunner.of_site(release.in_language(language), model)
    screening = crisis.screen_with_stored(text, release.risk_examples)
    return Side(side, text, runner, screening, QuestionRun(runner.release, language))

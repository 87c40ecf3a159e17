"""Facets of an item that follow from its turn: what the queue is filtered and sorted by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from conversations.models import PersonRequest, Stage, Turn
from conversations.person import hours
from conversations.states import DONE_STAGE_STATUSES
from conversations.turns import help_lines
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline import policy
from ieim.pipeline.knowledge import Label
from ieim.pipeline.ports import Query
from review import crisis, due
from review.models import NORMAL_RANK

AGENCY_STAGE = "agency_detect_v1"


@dataclass(frozen=True, slots=True)
class Facets:
    """An item's columns that follow from its turn.

    ``flags`` are the codes of its risk flags, each once; ``crisis`` says that one escalates.
    ``unsure`` says that the urgency is below its label's threshold.
    """

    urgency: str
    flags: tuple[str, ...]
    crisis: bool
    unsure: bool = False


def of_turn(turn: Turn) -> Facets:
    """Return a turn's facets as far as triage has got; it may still be running."""
    result = (_of_stage(turn.pk, "classify", "result") or {}).get("urgency", {})
    urgency = result.get("label", "")
    label = _labels(turn).get(urgency) if urgency else None
    return Facets(
        urgency=urgency,
        flags=crisis.codes(turn),
        crisis=bool(crisis.labels(turn)),
        unsure=policy.is_unsure(label, result.get("confidence")),
    )


def detected_agencies(turn_id: UUID) -> tuple[str, ...]:
    """Return the ids of the agencies that were detected for a turn, in their order.

    A request for a person has those of the turn that it is about.
    """
    merge = _of_stage(turn_id, AGENCY_STAGE, "state_merge")
    if merge:
        return tuple(merge[AGENCY_STAGE]["agencyDetected"])
    requests = PersonRequest.objects.filter(turn=turn_id, about__isnull=False)
    about = requests.values_list("about_id", flat=True).first()
    return detected_agencies(about) if about is not None else ()


LIKELY = 0.25
"""From this probability on an agency is likely."""


def likely_agency(turn: Turn) -> str | None:
    """Return the id of the agency that the ranking takes a message to be for; None for none."""
    release = knowledge.current_release()
    hits = shortlist_for(release).rank(Query(turn.text)).agencies(limit=1) if release else ()
    return hits[0].item.id if hits and hits[0].probability >= LIKELY else None


def _of_stage(turn_id: UUID, contract: str, column: str) -> Any:
    done = [status.value for status in DONE_STAGE_STATUSES]
    rows = Stage.objects.filter(turn=turn_id, contract=contract, status__in=done)
    return rows.values_list(column, flat=True).first()


def due_at(turn: Turn, facets: Facets, *, priority: int, opened_at: datetime) -> datetime:
    """Return by when an item that was opened at ``opened_at`` should be decided.

    What somebody in danger writes while they wait is due as soon as a crisis.
    """
    target = due.target(
        urgency=facets.urgency,
        priority=priority,
        crisis=facets.crisis or help_lines.in_danger(turn),
        urgencies=_urgencies(turn, facets),
    )
    return due.due(opened_at, target, hours.calendar())


def rank(turn: Turn, facets: Facets, *, stage: str, reasons: Sequence[str]) -> int:
    """Return an item's place among the urgencies, the lowest first.

    What was not extracted from a message in crisis is no crisis: the item for which the citizen
    waits is.
    """
    return due.rank(
        urgency=facets.urgency,
        crisis=facets.crisis and stage in crisis.READING,
        sign=crisis.is_sign(turn, stage=stage, reasons=reasons),
        refused=crisis.is_refused(turn, stage=stage, reasons=reasons),
        urgencies=_urgencies(turn, facets),
    )


def _urgencies(turn: Turn, facets: Facets) -> Mapping[str, Label]:
    """Return the urgencies that an item is sorted by: an unsure one only where it hurries."""
    if not (facets.urgency or facets.crisis):
        return {}
    labels = _labels(turn)
    if facets.unsure and int(labels[facets.urgency].effect or 0) > NORMAL_RANK:
        return {code: label for code, label in labels.items() if code != facets.urgency}
    return labels


def _labels(turn: Turn) -> Mapping[str, Label]:
    return knowledge.release(turn.release_number).labels.get("urgencies", {})

"""What the pages show, as plain values: the templates' whole vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.timesince import timesince

from conversations.models import Attempt, Stage
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.findings import FindingDict
from review import words
from review.models import ReviewItem


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One waiting item; ``agencies`` is empty until they are known."""

    id: UUID
    reason: str
    stage: str
    agencies: str
    reference: str
    opened_at: datetime

    @property
    def waited(self) -> str:
        """How long it has been open, in words."""
        if timezone.now() - self.opened_at < timedelta(minutes=1):
            return "less than a minute"
        return timesince(self.opened_at)


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One model call and what was wrong with its answer (nothing, when it passed)."""

    number: int
    round: int
    model: str
    findings: tuple[FindingDict, ...]


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage; ``stopped`` is the one that the item is about."""

    contract: str
    words: str
    status: str
    stopped: bool
    attempts: tuple[AttemptView, ...]


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item with what a caseworker needs to see.

    ``reasons`` are (sentence, code), ``risks`` (name of the flag, the citizen's own words).
    """

    row: QueueRow
    state: str
    message: str
    asked_at: datetime
    reasons: tuple[tuple[str, str], ...]
    risks: tuple[tuple[str, str], ...]
    stages: tuple[StageView, ...]


def queue_row(item: ReviewItem) -> QueueRow:
    """Return an item of :func:`review.selectors.queue` as a row."""
    return QueueRow(
        id=item.pk,
        reason=words.reasons(item.reasons),
        stage=words.stage_words(item.stage),
        agencies=_agencies(item),
        reference=item.turn.session.reference,
        opened_at=item.opened_at,
    )


def item_view(item: ReviewItem) -> ItemView:
    """Return an item of :func:`review.selectors.item` as a page."""
    return ItemView(
        row=queue_row(item),
        state=words.STATES[item.state],
        message=item.turn.text,
        asked_at=item.turn.created_at,
        reasons=tuple((words.reason(code), code) for code in item.reasons),
        risks=tuple(_risks(item)),
        stages=tuple(_stage(stage, item.stage) for stage in item.turn.stages.all()),
    )


def _risks(item: ReviewItem) -> Iterator[tuple[str, str]]:
    if item.turn.risks:
        labels = knowledge.release(item.turn.release_number).labels.get("risk_flags", {})
        for risk in item.turn.risks:
            label = labels.get(risk["code"])
            quote = item.turn.text[risk["start"] : risk["end"]]
            yield label.name if label else risk["code"], quote


def _agencies(item: ReviewItem) -> str:
    for stage in item.turn.stages.all():
        if stage.contract == "agency_detect_v1" and stage.state_merge:
            info = stage.state_merge["agency_detect_v1"]["agencyInfo"]
            return ", ".join(agency["name"] for agency in info)
    return ""


def _stage(stage: Stage, stopped_at: str) -> StageView:
    return StageView(
        contract=stage.contract,
        words=words.stage_words(stage.contract),
        status=words.STATUSES[stage.status],
        stopped=stage.contract == stopped_at,
        attempts=tuple(map(_attempt, stage.attempts.all())),
    )


def _attempt(attempt: Attempt) -> AttemptView:
    return AttemptView(
        number=attempt.number,
        round=attempt.round,
        model=attempt.model,
        findings=tuple(attempt.findings),
    )

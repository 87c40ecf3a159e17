"""What a machine, a person and the citizen decided about each question of a conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.utils.translation import gettext

from conversations import ports
from conversations.chat import wording
from conversations.models import Choice, Stage
from conversations.states import StageStatus
from conversations.turns.models import ChoiceOutcome
from ieim.pipeline.topology import CLASSIFY

_BY_MACHINE = {
    StageStatus.PASSED.value: "passed",
    StageStatus.FALLBACK.value: "fallback",
    StageStatus.NEEDS_REVIEW.value: "stopped",
}
_LABELS = ("intents", "product_line", "urgency", "risk_flags")


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One decision: ``what`` was decided about ``step`` (a contract's id, ``reply`` or ``person``).

    ``what`` is of the machine ``passed``, ``fallback`` or ``stopped``, of the citizen how their
    choice ended, of a person the action. ``labels`` are those that the machine gave the message, as
    ``set/label``. It never says which person.
    """

    by: Literal["machine", "person", "citizen"]
    step: str
    what: str
    at: datetime | None
    labels: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """The step in the page's words, empty for one that no page shows."""
        if self.step in wording.STEPS:
            return str(wording.STEPS[self.step])
        return "" if self.by == "machine" else gettext("Answer")


def decisions(session_id: UUID) -> Mapping[UUID, tuple[DecisionView, ...]]:
    """Return the decisions on each turn of a session that has any, the first one first.

    What a person or the citizen has since decided otherwise is no decision of the machine's.
    """
    by_turn: dict[UUID, list[DecisionView]] = defaultdict(list)
    for turn_id, decision in (*_machine(session_id), *_citizen(session_id), *_people(session_id)):
        by_turn[turn_id].append(decision)
    return {
        turn_id: tuple(sorted(decisions, key=lambda decision: (decision.at is None, decision.at)))
        for turn_id, decisions in by_turn.items()
    }


def _machine(session_id: UUID) -> Iterator[tuple[UUID, DecisionView]]:
    stages = Stage.objects.filter(turn__session=session_id, status__in=_BY_MACHINE)
    for stage in stages.order_by("turn__number", "order"):
        labels = tuple(_labels(stage.result)) if stage.contract == CLASSIFY else ()
        decision = _BY_MACHINE[stage.status]
        yield (
            stage.turn_id,
            DecisionView("machine", stage.contract, decision, stage.finished_at, labels),
        )


def _labels(result: Mapping[str, object] | None) -> Iterator[str]:
    for name in _LABELS:
        labels = (result or {}).get(name) or []
        for value in labels if isinstance(labels, list) else [labels]:
            yield f"{name}/{value['label']}"  # type: ignore[index]  # by its schema


def _citizen(session_id: UUID) -> Iterator[tuple[UUID, DecisionView]]:
    decided = Choice.objects.filter(turn__session=session_id, decided_at__isnull=False)
    outcomes = [ChoiceOutcome.CHOSEN.value, ChoiceOutcome.NONE.value]
    for choice in decided.filter(outcome__in=outcomes):
        decision = DecisionView("citizen", choice.stage, choice.outcome, choice.decided_at)
        yield choice.turn_id, decision


def _people(session_id: UUID) -> Iterator[tuple[UUID, DecisionView]]:
    for decision in ports.reviews().decisions(session_id=session_id):
        yield decision.turn_id, DecisionView("person", decision.step, decision.action, decision.at)

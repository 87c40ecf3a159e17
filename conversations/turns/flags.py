"""Risk flags of a stored turn: the screen's and the model's, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from conversations.models import Turn
from conversations.record.vouched import TURN
from conversations.states import TurnState
from ieim.audit import services as audit
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.findings import Finding
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk


@transaction.atomic
def add(*, turn: Turn, classified: Mapping[str, Any]) -> None:
    """Add to a turn what classify found beyond the screen, and audit where the two disagree.

    ``classified`` is a classify result (``ieim/pipeline/results``). Flags are only ever added.
    """
    known = {found["code"] for found in turn.risks}
    added = [
        Risk(flag["label"], flag["spans"][0]["start"], flag["spans"][0]["end"], "model").as_dict()
        for flag in classified["risk_flags"]
        if flag["label"] not in known
    ]
    if added:
        turn.risks = [*turn.risks, *added]
        Turn.objects.filter(pk=turn.pk).update(risks=turn.risks)
        audit.record(
            chain=turn.session_id,
            kind="turn.flagged",
            actor="system",
            payload={"turn": str(turn.pk), "risk_flags": [found["code"] for found in added]},
            rows=[TURN.row(turn)],
        )
    if classified["disagreements"]:
        audit.record(
            chain=turn.session_id,
            kind="triage.disagreement",
            actor="system",
            payload={"turn": str(turn.pk), "rule_wins": classified["disagreements"]},
        )


def of_rules(turn: Turn) -> list[Risk]:
    """Return the risks that were found when the message came, without what a model added."""
    return [Risk(**found) for found in turn.risks if found["source"] != "model"]


def of_feedback(turn: Turn) -> list[tuple[str, str]]:
    """Return the risks in what the citizen wrote of a turn's answer: each code with its words."""
    feedback = getattr(getattr(turn, "reply", None), "feedback", None)
    text = feedback.text if feedback is not None else ""
    return [(each.code, text[each.start : each.end]) for each in risk.find(text)] if text else []


def holds(turn: Turn) -> list[Finding]:
    """Return the holds that a turn's risk flags put on it, by its release's labels."""
    if not turn.risks:
        return []
    labels = knowledge.release(turn.release_number).labels.get("risk_flags", {})
    return risk.holds([found["code"] for found in turn.risks], labels)


def waiting(session_id: UUID) -> list[Turn]:
    """Return the flagged turns of a session that wait for a person."""
    held = Turn.objects.filter(session_id=session_id, state=TurnState.NEEDS_REVIEW.value)
    return [turn for turn in held if turn.risks]

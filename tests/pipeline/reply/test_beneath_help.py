"""What stands beneath help lines: nothing that tells somebody in danger nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Label
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.work import Answered, Held, Outcome
from tests.pipeline.build import RELEASE, REPLACE, valid
from tests.pipeline.drive import ScriptedModel, run


def answered(text: str, **turn: Any) -> Outcome:
    """What comes of a message that a model takes to ask nothing."""
    judged = valid("judgement_v1")
    judged["judgements"]["inquiry"] = False
    judged.update(assistantReply="Hm.", nextStep="session_end")
    outcome, _ = run(ScriptedModel({"judgement_v1": [judged]}), text=text, **turn)
    assert isinstance(outcome, Answered | Held)
    assert outcome.reply.kind == "guidance"
    return outcome


@pytest.mark.parametrize("text", ["Hm hm", "Tell me a joke", "Thank you"])
def test_a_person_answers_who_waits_in_danger(text: str) -> None:
    outcome = answered(text, in_danger=True)
    assert isinstance(outcome, Held)
    assert [finding.code for finding in outcome.findings] == [Code.POLICY_RISK]
    assert isinstance(answered(text), Answered)


def test_what_a_person_has_decided_goes_out() -> None:
    assert isinstance(answered("Hm hm", in_danger=True, decided=True), Answered)


DANGER = Label("risk_flags", "fraud", "Fraud", effect="escalate", description="Call 110.")
LABELS = {**RELEASE.labels, "risk_flags": {"fraud": DANGER}}
TALK = [
    {"role": "user", "text": "I lost my passport"},
    {"role": "assistant", "text": "Report it.", "agency": "passports", "service": REPLACE.key},
]


def going_on(text: str, **turn: Any) -> Outcome:
    """What comes of a message in a talk about a lost passport that is answered with the same."""
    release = replace(RELEASE, labels=LABELS)
    outcome, _ = run(ScriptedModel(), release=release, text=text, history=TALK, **turn)
    assert isinstance(outcome, Answered | Held)
    assert outcome.reply.still_about == REPLACE.name
    return outcome


def test_it_does_not_go_on_with_what_was_asked_before() -> None:
    outcome = going_on("I must file my tax return", in_danger=True)
    assert isinstance(outcome, Held)
    assert [finding.code for finding in outcome.findings] == [Code.POLICY_RISK]


def test_who_asks_for_that_service_gets_it() -> None:
    assert isinstance(going_on("How do I replace a lost passport?", in_danger=True), Answered)


def test_a_weak_sign_holds_nothing() -> None:
    weak, speaking = (Risk("fraud", 0, 4, "hint"),), replace(RELEASE, labels=LABELS)
    assert isinstance(answered("Hm hm", risks=weak, release=speaking), Answered)
    assert isinstance(going_on("I must file my tax return", risks=weak), Answered)

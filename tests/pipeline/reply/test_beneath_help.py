"""Guidance beneath help lines: nobody in danger reads that it is not clear what they need."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.work import Answered, Held, Outcome
from tests.pipeline.build import valid
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


@pytest.mark.parametrize("text", ["Hm hm", "Tell me a joke", "You are stupid"])
def test_a_person_answers_what_there_is_no_answer_to(text: str) -> None:
    outcome = answered(text, helped=True)
    assert isinstance(outcome, Held)
    assert [finding.code for finding in outcome.findings] == [Code.POLICY_RISK]
    assert isinstance(answered(text), Answered)


def test_so_does_one_whose_words_are_asked_again_as_something_else() -> None:
    assert isinstance(answered("Thank you", helped=True, again=True), Held)


@pytest.mark.parametrize("text", ["Thank you", "Hello"])
def test_who_is_polite_is_answered(text: str) -> None:
    assert isinstance(answered(text, helped=True), Answered)


def test_what_a_person_has_decided_goes_out() -> None:
    assert isinstance(answered("Hm hm", helped=True, decided=True), Answered)

"""Honest scores (DESIGN decision 19): nothing tells a model to raise one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ieim.pipeline import contract as contracts
from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import MINIMUM_SCORE
from ieim.pipeline.topology import STAGES
from ieim.pipeline.work import Abstained
from tests.pipeline.build import valid
from tests.pipeline.drive import ScriptedModel, high_script, payload, run

SCORED = ["category_select_v1", "semantic_analysis_v1", "service_select_v1"]
_ASKS = re.compile(r"0?\.50?\b(?!\d)|\bhalf\b|\bor more\b|\bat least\s+(?:0|half)|\bminimum of\b")
"""How a text would say what a score must be."""


def lowered(name: str, value: float) -> dict[str, Any]:
    """The valid answer of a stage with every score at ``value``."""
    answer = json.dumps(valid(name))
    lower: dict[str, Any] = json.loads(re.sub(r'"score": [0-9.]+', f'"score": {value}', answer))
    return lower


def instructions(model: ScriptedModel) -> list[str]:
    """Everything that a model was told beside the knowledge and the citizen's words."""
    return [message.content for request in model.flow for message in request.messages[:2]]


def about_scores(text: str) -> list[str]:
    return [line for line in re.split(r"\n|(?<=\.) ", text) if "score" in line]


@pytest.mark.parametrize("name", sorted(STAGES))
def test_no_prompt_says_how_high_a_score_must_be(name: str) -> None:
    contract = contracts.load(name)
    told = [contract.persona, contract.directive, contract.short_directive]
    prose = [line for text in told for line in about_scores(text) if not line.startswith("{")]
    assert [line for line in prose if _ASKS.search(line.partition("gives")[0])] == []


@pytest.mark.parametrize("name", SCORED)
def test_every_prompt_with_a_score_asks_for_an_honest_one(name: str) -> None:
    contract = contracts.load(name)
    assert "score is honest" in contract.directive or "honest score" in contract.directive
    assert "that is a right answer" in contract.short_directive
    assert "no score is ever to be raised" in contract.persona


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("value", [0.0, 0.2, 0.49])
def test_a_low_score_is_final_on_the_first_attempt(name: str, value: float) -> None:
    script = high_script() if name == "semantic_analysis_v1" else {}
    model = ScriptedModel({**script, name: [lowered(name, value)]})
    outcome, store = run(model)
    assert isinstance(outcome, Abstained)
    assert [each for each in model.asked() if each[0] == name] == [(name, 1)]
    assert {each.code for each in outcome.findings} == {Code.SCORE_MINIMUM}
    assert name in store.failed


def test_no_second_attempt_says_how_high_a_score_must_be() -> None:
    answer = valid("category_select_v1")
    answer["categorySelection"]["candidates"]["new"] = {"value": "New passports", "score": 0.2}
    model = ScriptedModel({"category_select_v1": [answer]})
    run(model)
    (again,) = [request for request in model.flow if request.attempt == 2]
    findings = payload(again)["previous_findings"]
    assert [(each["code"], set(each)) for each in findings] == [("score.minimum", {"code", "path"})]
    assert str(MINIMUM_SCORE) not in json.dumps(findings)
    assert "`score.minimum`: leave that candidate out" in again.messages[0].content
    assert not [
        line for text in instructions(model) for line in about_scores(text) if "raise a" in line
    ]

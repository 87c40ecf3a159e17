"""Abstaining and asking back (decisions 19 and 20): the core, without a database."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ieim.pipeline import choosing
from ieim.pipeline import contract as contracts
from ieim.pipeline.choosing import NotOffered, offers, results
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.runner import compose
from ieim.pipeline.stages.base import Context
from ieim.pipeline.work import Abstained, Answered, NeedsReview
from tests.pipeline.build import PAVILION, RELEASE, RENEW, REPLACE, RETURN, state, valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, run


def unsure(score: float = 0.2) -> dict[str, Any]:
    """An answer of service_select_v1 that honestly does not know."""
    answer = valid("service_select_v1")
    answer["serviceSelection"]["score"] = score
    return answer


def nobody() -> dict[str, Any]:
    """An answer of agency_detect_v1 that found no agency."""
    answer = valid("agency_detect_v1")
    answer["judgements"].update(agencyDetected=[], agencyInfo=[], agencyCount=0)
    answer["nextStep"] = "session_end"
    return answer


def context(cached: dict[str, Any] | None = None) -> Context:
    return Context(1, "renew or replace?", cached or state(), RELEASE)


def test_an_honest_low_score_is_final_and_offers_services() -> None:
    model = ScriptedModel({"service_select_v1": [unsure()]})
    outcome, store = run(model)
    assert model.asked()[-1] == ("service_select_v1", 1)
    assert isinstance(outcome, Abstained)
    assert [finding.code for finding in outcome.findings] == [Code.SCORE_MINIMUM]
    assert 2 <= len(outcome.offered) <= 4
    assert outcome.offered[0] == REPLACE  # what the stage itself came closest to
    assert store.failed == ["service_select_v1"]


def test_nobody_is_asked_while_an_earlier_danger_waits() -> None:
    outcome, _ = run(ScriptedModel({"service_select_v1": [unsure()]}), in_danger=True)
    assert isinstance(outcome, NeedsReview)


def test_no_agency_is_final_and_offers_services() -> None:
    model = ScriptedModel({"agency_detect_v1": [nobody()]})
    outcome, _ = run(model, text="passport replace renew")
    assert model.asked()[-1] == ("agency_detect_v1", 1)
    assert isinstance(outcome, Abstained)
    assert set(outcome.offered) >= {REPLACE, RENEW}


@pytest.mark.parametrize("score", [0.49, 0.0])
def test_it_abstains_on_the_high_branch_too(score: float) -> None:
    script = high_script()
    script["service_select_v1"][0]["serviceSelection"]["score"] = score
    outcome, _ = run(ScriptedModel(script))
    assert isinstance(outcome, Abstained)


def test_one_low_score_among_good_ones_is_asked_again() -> None:
    answer = valid("category_select_v1")
    answer["categorySelection"]["candidates"]["new"] = {"value": "New passports", "score": 0.2}
    model = ScriptedModel({"category_select_v1": [answer]})
    outcome, _ = run(model)
    assert ("category_select_v1", 2) in model.asked()
    assert isinstance(outcome, Answered)


def test_a_low_score_with_another_fault_is_no_abstention() -> None:
    answer = unsure()
    answer["serviceSelection"]["score"] = 0.205
    model = ScriptedModel({"service_select_v1": [answer]})
    outcome, _ = run(model)
    assert ("service_select_v1", 2) in model.asked()
    assert isinstance(outcome, Answered)


def test_a_list_that_contradicts_itself_is_no_abstention() -> None:
    answer = nobody()
    answer["judgements"]["agencyCount"] = 2
    model = ScriptedModel({"agency_detect_v1": [answer]})
    run(model)
    assert ("agency_detect_v1", 2) in model.asked()


def test_a_resumed_turn_offers_the_same_and_asks_nothing() -> None:
    store = MemoryStore()
    first, _ = run(ScriptedModel({"service_select_v1": [unsure()]}), store)
    again = ScriptedModel()
    second, _ = run(again, store)
    assert again.requests == []
    assert first == second


def test_somebody_at_risk_is_not_asked_to_choose() -> None:
    model = ScriptedModel({"service_select_v1": [unsure()]})
    outcome, _ = run(model, risks=[Risk("fraud", 0, 2)])
    assert isinstance(outcome, NeedsReview)


def test_a_risk_that_triage_sees_counts_as_well() -> None:
    classified = valid("classify")
    classified["risk_flags"] = [
        {"label": "fraud", "confidence": 0.9, "evidence_snippets": ["was stolen"]}
    ]
    script = {"service_select_v1": [unsure()], "classify": [classified]}
    outcome, _ = run(ScriptedModel(script))
    assert isinstance(outcome, NeedsReview)


def test_nothing_is_offered_where_there_is_nothing_to_choose() -> None:
    assert offers([RETURN], None, context()) == ()
    assert offers([], unsure(), context()) == ()


def test_at_most_four_each_once() -> None:
    found = offers([RENEW, REPLACE, RETURN, PAVILION, RENEW], unsure(), context())
    assert found == (REPLACE, RENEW, RETURN, PAVILION)


def test_what_no_gate_would_pass_is_not_offered() -> None:
    silent = {k: v for k, v in RELEASE.categories.items() if k[0] != "tax"}
    where = replace(context(), release=replace(RELEASE, categories=silent))
    with pytest.raises(NotOffered):
        results(RETURN, where)
    assert RETURN not in offers([RENEW, RETURN, PAVILION], None, where)


@pytest.mark.parametrize("service", [REPLACE, RENEW, PAVILION, RETURN])
@pytest.mark.parametrize("branch", ["low", "high"])
def test_every_choice_leads_to_its_reply(service: Any, branch: str) -> None:
    cached = state(branch, "service_select_v1")
    made = results(service, context(cached))
    outputs = {each.contract: each.output for each in made}
    merged: dict[str, Any] = {"session_id": cached["session_id"], "judgement_v1": {"inquiry": True}}
    if "agency_detect_v1" not in outputs:
        merged = cached
    for each in made:
        merged = {**merged, **each.state_merge}
    reply = compose(outputs, context(merged), language="")
    assert reply.title == service.name
    assert [source.service_key for source in reply.sources] == [service.key]


def test_what_leads_there_already_stays() -> None:
    assert [each.contract for each in results(RENEW, context())] == ["service_select_v1"]
    made = results(RETURN, context())
    assert [each.contract for each in made] == [
        "agency_detect_v1",
        "category_select_v1",
        "service_select_v1",
    ]


def test_a_choice_is_judged_by_the_gate_as_any_answer_is() -> None:
    used = replace(context(), used_response_ids=frozenset({"taken"}))
    with pytest.raises(NotOffered, match=r"response\.reused"):
        results(RENEW, used, lambda: "taken")


def test_every_stage_with_a_least_score_can_abstain() -> None:
    for name in ("category_select_v1", "semantic_analysis_v1", "service_select_v1"):
        contract = contracts.load(name)
        assert list(contract.stage.scores(valid(name))), name
        low = {"score": 0.1}
        answer = valid(name)
        for score in contract.stage.scores(answer):
            node: Any = answer
            *path, last = score.path.strip("/").split("/")
            for part in path:
                node = node[int(part) if part.isdigit() else part]
            node[last] = low["score"]
        cached = state("high" if name.startswith("semantic") else "low", name)
        judged = gate.judge(contract, ModelAnswer(json.dumps(answer)), context(cached))
        assert choosing.abstains(contract.stage, judged.output, judged.findings), name

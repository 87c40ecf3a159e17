"""Token budgets: the bound before a call, the server's count after it, the shortlist that fits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline import budget, request
from ieim.pipeline import contract as contracts
from ieim.pipeline.budget import Budget, Count, Spent
from ieim.pipeline.findings import Code
from ieim.pipeline.ports import Message, ModelAnswer, ModelRequest, Query
from ieim.pipeline.stages.base import Context, Inputs
from ieim.pipeline.topology import STAGES
from ieim.pipeline.work import Answered, NeedsReview, Options
from tests.pipeline.build import RELEASE, SESSION, TEXT, TODAY
from tests.pipeline.drive import MemoryStore, ScriptedModel, payload, run
from tests.pipeline.searching import FakeSearch


def asked(contract: str, limit: int | None = None, attempt: int = 1) -> ModelRequest:
    state: dict[str, Any] = {"session_id": SESSION}
    if contract != "agency_detect_v1":
        state["agency_detect_v1"] = {"agencyDetected": ["passports"], "complexity": "low"}
    inputs = Inputs(
        text=TEXT,
        today=TODAY,
        history=(),
        context=Context(attempt, TEXT, state, RELEASE),
        shortlist=FakeSearch(),
        query=Query(TEXT),
        limits=Options().limits,
    )
    return request.build(
        contracts.load(contract),
        inputs,
        request_id="r",
        temperature=0.2,
        max_output_tokens=100,
        max_input_bytes=limit,
    )


def codes(outcome: Any) -> list[Code]:
    return [finding.code for finding in outcome.findings]


@given(st.text())
def test_it_counts_no_fewer_tokens_than_there_are_bytes(text: str) -> None:
    messages = (Message("system", ""), Message("system", ""), Message("user", text))
    count = budget.bound(ModelRequest("x", 1, messages, 0.0, 1))
    assert count >= len(text.encode("utf-8", "surrogatepass"))


def test_it_counts_the_response_format_too() -> None:
    whole = asked("agency_detect_v1")
    assert budget.bound(whole) > budget.bound(replace(whole, response_format=None))


@pytest.mark.parametrize("contract", ["agency_detect_v1", "service_select_v1"])
def test_it_leaves_out_the_worst_candidates_until_the_call_fits(contract: str) -> None:
    whole = asked(contract)
    limit = budget.bound(whole) - 1
    fitted = asked(contract, limit)
    assert budget.bound(fitted) <= limit
    slots = [slot for slot in request.CANDIDATE_SLOTS if slot in payload(whole)]
    before = {c["rank"] for slot in slots for c in payload(whole)[slot] if "rank" in c}
    after = {c["rank"] for slot in slots for c in payload(fitted)[slot] if "rank" in c}
    assert 1 in after
    assert max(after) <= max(before)
    assert sum(len(payload(fitted)[slot]) for slot in slots) < sum(
        len(payload(whole)[slot]) for slot in slots
    )


def test_it_keeps_the_best_candidate_however_small_the_budget() -> None:
    fitted = payload(asked("agency_detect_v1", limit=1))
    assert [candidate["rank"] for candidate in fitted["agencies"]] == [1]


def test_it_stops_a_stage_that_no_shortlist_can_make_fit() -> None:
    model = ScriptedModel()
    outcome, store = run(model, options=Options(budget=Budget(input=100)))
    assert isinstance(outcome, NeedsReview)
    assert codes(outcome) == [Code.BUDGET_INPUT]
    assert model.requests == []
    assert set(store.stops) == {"judgement_v1", "classify", "extract", "identity_assist"}


@pytest.mark.parametrize(
    ("limit", "code"),
    [(Budget(session=50_000), Code.BUDGET_SESSION), (Budget(day=50_000), Code.BUDGET_DAY)],
)
def test_it_makes_no_call_that_would_overrun_a_session_or_a_day(limit: Budget, code: Code) -> None:
    store = MemoryStore()
    store.used = Spent(session=49_990, day=49_990)
    model = ScriptedModel()
    outcome, _ = run(model, store, options=Options(budget=limit))
    assert isinstance(outcome, NeedsReview)
    assert codes(outcome) == [code]
    assert model.requests == []


def test_it_fails_an_attempt_whose_answer_the_server_counts_too_long() -> None:
    right = json.dumps({"judgements": {"inquiry": True}})
    model = ScriptedModel({"judgement_v1": [ModelAnswer(right, completion_tokens=101)] * 2})
    outcome, store = run(model, options=Options(max_output_tokens=100))
    assert isinstance(outcome, NeedsReview)
    assert Code.BUDGET_OUTPUT in codes(outcome)
    assert model.asked() == [("judgement_v1", 1), ("judgement_v1", 2)]
    assert store.done("judgement_v1") is None


def test_it_believes_the_servers_count_over_its_own() -> None:
    count = Count(input=10, output_limit=100, budget=Budget(input=50), spent=Spent())
    assert budget.before(count) == []
    answer = ModelAnswer("", prompt_tokens=51, completion_tokens=100)
    assert [finding.code for finding in budget.after(count, answer)] == [Code.BUDGET_INPUT]
    assert budget.after(count, ModelAnswer("")) == []


def test_it_takes_a_contracts_own_limit() -> None:
    own = {"classify": {"max_input_tokens": 1}}
    outcome, store = run(ScriptedModel(), options=Options(overrides=own))
    assert isinstance(outcome, Answered)
    assert [finding.code for finding in store.stops["classify"].findings] == [Code.BUDGET_INPUT]
    assert set(store.stops) == {"classify"}


def test_a_byte_is_a_token_until_the_server_of_a_model_has_counted_ten_calls() -> None:
    few = [("classify", "new", 400, 100)] * 9
    old = [("judgement_v1", "old", 400, 100)] * 9 + [("classify", "old", 400, 200)]
    # The highest ratio counts; a contract has the model that answered it last.
    assert budget.tokens_per_byte([*few, *old]) == {"judgement_v1": 0.5}


def test_a_limit_is_in_tokens_where_they_are_counted() -> None:
    limit = Options(budget=Budget(input=4_000))
    ratio = dict.fromkeys(STAGES, 0.25)
    outcome, store = run(ScriptedModel(), options=replace(limit, tokens_per_byte=ratio))
    assert isinstance(outcome, Answered)
    (record,) = (record for name, record in store.records if name == "service_select_v1")
    assert record.count.input_bytes > 4_000 > record.count.input
    assert isinstance(run(ScriptedModel(), options=limit)[0], NeedsReview)

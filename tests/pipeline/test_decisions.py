"""DESIGN's decisions where the contracts are silent or disagree, one test or more for each number.

Decision 3 (outages) belongs to the adapters and the worker, decision 13's storage to the
conversations: see the tests there.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline import contract as contracts
from ieim.pipeline import request
from ieim.pipeline.findings import WAIVABLE, Code, Finding
from ieim.pipeline.gate import has_two_decimals
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.runner import NeedsReview
from ieim.pipeline.stages.base import Inputs
from ieim.search import index_for
from tests.pipeline.build import (
    CONTRACTS,
    RELEASE,
    STAGE_CONTRACTS,
    context,
    found,
    judged,
    state,
    valid,
)
from tests.pipeline.drive import ScriptedModel, high_script, payload, run


def inputs(contract: str, attempt: int, **changes: Any) -> Inputs:
    values: dict[str, Any] = {
        "text": "my passport was stolen",
        "history": [],
        "context": context(contract, attempt=attempt),
        "shortlist": index_for(RELEASE),
        "limits": {"agencies": 12, "categories": 40, "services": 12},
    }
    return Inputs(**{**values, **changes})


def build(contract: str, attempt: int, previous: list[Finding], **changes: Any) -> Any:
    return request.build(
        contracts.load(contract),
        inputs(contract, attempt, **changes),
        request_id="r",
        temperature=0.7,
        max_output_tokens=100,
        previous=previous,
    )


@pytest.mark.parametrize(
    "wrong",
    ["{", {}, valid("category_select_v1") | {"session_id": "x"}],
    ids=["syntax", "schema", "session"],
)
def test_it_holds_decision_1_two_attempts_then_a_person(wrong: Any) -> None:
    model = ScriptedModel({"category_select_v1": [wrong, wrong, wrong]})
    outcome, store = run(model)
    asked = [r for r in model.requests if r.contract == "category_select_v1"]
    assert [r.attempt for r in asked] == [1, 2]
    assert [r.temperature for r in asked] == [0.2, 0.0]
    told = payload(asked[1])["previous_findings"]
    assert told
    assert all(set(item) == {"code", "path"} for item in told)
    assert isinstance(outcome, NeedsReview)
    assert store.failed == ["category_select_v1"]


def test_it_holds_decision_1_a_second_attempt_says_what_it_fixed() -> None:
    for contract in STAGE_CONTRACTS:
        answer = valid(contract)
        assert found(judged(contract, answer, attempt=2)) == [
            (Code.TELEMETRY_MISSING, "/telemetry/notes")
        ]
        answer["telemetry"]["notes"] = "mended the score"
        assert judged(contract, answer, attempt=2).passed
    assert judged("classify", valid("classify"), attempt=2).passed


@pytest.mark.parametrize(
    "refused", [ModelAnswer("", refusal="No"), ModelAnswer("", finish_reason="content_filter")]
)
def test_it_holds_decision_1_a_refusal_is_not_asked_again(refused: ModelAnswer) -> None:
    model = ScriptedModel({"agency_detect_v1": [refused]})
    outcome, _ = run(model)
    assert isinstance(outcome, NeedsReview)
    assert [a for c, a in model.asked() if c == "agency_detect_v1"] == [1]


@pytest.mark.parametrize("contract", CONTRACTS)
@given(
    history=st.lists(
        st.builds(lambda text: {"role": "user", "text": text}, st.text(max_size=80)), max_size=20
    ),
    codes=st.lists(st.sampled_from(list(Code)), max_size=100),
    text=st.text(min_size=1, max_size=300),
)
def test_it_holds_decision_2_the_second_request_is_strictly_smaller(
    contract: str, history: list[dict[str, str]], codes: list[Code], text: str
) -> None:
    previous = [Finding(code, "/a/long/pointer/into/the/answer", "m") for code in codes]
    first = build(contract, 1, [], history=history, text=text)
    second = build(contract, 2, previous, history=history, text=text)
    assert second.size < first.size
    assert payload(second)["user_prompt"] == text
    assert payload(second)["chat_context_summary"] == history[-2:]
    assert "## Examples" in first.messages[1].content
    assert "## Examples" not in second.messages[1].content


def test_it_holds_decision_2_the_best_half_of_the_candidates_and_the_slices_that_are_read() -> None:
    first = payload(build("agency_detect_v1", 1, []))
    second = payload(build("agency_detect_v1", 2, []))
    assert [a["rank"] for a in first["agencies"]] == [1, 2, 3]
    assert [a["rank"] for a in second["agencies"]] == [1, 2]
    assert set(second["cached_state"]) == {"session_id", "judgement_v1"}


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("```json\n{}\n```", Code.JSON_SYNTAX),
        ("Here you are: {}", Code.JSON_SYNTAX),
        ("{} ok?", Code.JSON_SYNTAX),
        ('{"a": NaN}', Code.JSON_NUMBER),
        ('{"a": 1e400}', Code.JSON_NUMBER),
        ('{"a": "\\ud800"}', Code.JSON_ENCODING),
        ('{"a": "\\u0000"}', Code.JSON_ENCODING),
        ('{"a":' * 33 + "1" + "}" * 33, Code.JSON_TOO_DEEP),
        ('{"a": 1, "a": 1}', Code.JSON_DUPLICATE_KEY),
        ('{"a": "' + "x" * 262_144 + '"}', Code.MODEL_TOO_LARGE),
    ],
)
def test_it_holds_decision_4_strict_json_is_a_finding_never_an_exception(
    raw: str, code: Code
) -> None:
    for contract in CONTRACTS:
        assert [finding.code for finding in judged(contract, raw).findings] == [code]


@pytest.mark.parametrize("good", ["0.9", "0.50", "5e-1", "1", "0", "1.00", "0.57", "0.500000"])
def test_it_holds_decision_5_two_decimals_by_value(good: str) -> None:
    raw = json.dumps(valid("classify")).replace("0.9", good)
    assert judged("classify", raw).passed


@pytest.mark.parametrize("bad", ["0.876", "0.5700000000000001", "5e-3", "0.50" + "0" * 40 + "1"])
def test_it_holds_decision_5_more_than_two_decimals_are_a_finding(bad: str) -> None:
    for contract in ("service_select_v1", "classify"):
        raw = json.dumps(valid(contract)).replace("0.9", bad)
        assert Code.SCORE_PRECISION in {finding.code for finding in judged(contract, raw).findings}


@given(st.integers(0, 100))
def test_it_holds_decision_5_every_valid_score_is_valid(hundredths: int) -> None:
    assert has_two_decimals(Decimal(hundredths) / 100)
    assert not has_two_decimals((Decimal(hundredths) / 100) + Decimal("0.001"))


def test_it_holds_decision_6_ids_belong_to_the_contracts_that_have_them() -> None:
    for name in ("session_id", "response_id"):
        answer = valid("judgement_v1") | {name: "x"}
        assert found(judged("judgement_v1", answer)) == [(Code.SESSION_MISMATCH, f"/{name}")]
        without = valid("service_select_v1")
        del without[name]
        assert found(judged("service_select_v1", without)) == [(Code.SCHEMA, "")]


def test_it_holds_decision_7_unknown_fields_are_findings_at_every_level() -> None:
    answer = valid("semantic_analysis_v1")
    answer["semanticAnalysis"]["agencies"][0]["extra"] = 1
    assert found(judged("semantic_analysis_v1", answer)) == [
        (Code.SCHEMA, "/semanticAnalysis/agencies/0/extra")
    ]


def test_it_holds_decision_7_only_the_documented_slices_are_merged() -> None:
    merged = {c: judged(c, valid(c)).state_merge for c in CONTRACTS}
    assert merged["judgement_v1"] == {"judgement_v1": {"inquiry": True}}
    assert set(merged["agency_detect_v1"] or {}) == {"agency_detect_v1", "nextStep"}
    assert set((merged["category_select_v1"] or {})["category_select_v1"]) == {"candidates"}
    service = (merged["service_select_v1"] or {})["service_select_v1"]
    assert set(service) == {"serviceSelection", "template"}
    whole = (merged["multi_agency_service_answer_v1"] or {})["multi_agency_service_answer_v1"]
    assert whole == valid("multi_agency_service_answer_v1")
    assert merged["classify"] == {}


def test_it_holds_decision_8_one_legal_next_step() -> None:
    high = state("high", "service_select_v1")
    answer = valid("service_select_v1")
    assert found(judged("service_select_v1", answer, cached_state=high)) == [
        (Code.ROUTE_NEXT_STEP, "/nextStep")
    ]
    answer["nextStep"] = "multi_agency_service_answer_v1"
    assert judged("service_select_v1", answer, cached_state=high).passed


def test_it_holds_decision_9_agencies_are_in_the_release_distinct_and_fit_the_branch() -> None:
    answer = valid("agency_detect_v1")
    answer["judgements"].update(agencyDetected=["passports", "passports"], agencyCount=2)
    assert found(judged("agency_detect_v1", answer)) == [
        (Code.AGENCY_COUNT, "/judgements/agencyDetected/1"),
        (Code.ROUTE_BRANCH, "/judgements/complexity"),
    ]
    answer = valid("agency_detect_v1")
    answer["judgements"]["agencyDetected"] = ["Passports"]
    codes = {code for code, _ in found(judged("agency_detect_v1", answer))}
    assert Code.KNOWLEDGE_UNKNOWN in codes


def test_it_holds_decision_10_categories_belong_to_their_agency() -> None:
    answer = valid("semantic_analysis_v1")
    entry = answer["semanticAnalysis"]["agencies"][1]
    entry["categorySelection"]["candidates"] = {"lost": {"value": "Lost passports", "score": 0.9}}
    assert found(judged("semantic_analysis_v1", answer)) == [
        (
            Code.KNOWLEDGE_UNKNOWN,
            "/semanticAnalysis/agencies/1/categorySelection/candidates/lost",
        )
    ]


@pytest.mark.parametrize("key", ["service_fee", "service_secret", "entity_date", "agency_fees"])
def test_it_holds_decision_11_every_placeholder_resolves(key: str) -> None:
    answer = valid("service_select_v1")
    answer["template"]["placeholders"][key] = "{" + key + "}"
    assert found(judged("service_select_v1", answer)) == [
        (Code.TEMPLATE_UNRESOLVED, f"/template/placeholders/{key}")
    ]


@pytest.mark.parametrize(
    "claim",
    [
        "See https://passports.example.evil.test/x.",
        "It costs MRK 450.00.",
        "Call +999 20 555 0199.",
        "The office opens on 3 June 2027.",
    ],
)
def test_it_holds_decision_12_every_fact_is_traceable(claim: str) -> None:
    answer = valid("multi_agency_service_answer_v1")
    answer["assistantReply"] += f" {claim}"
    codes = {code for code, _ in found(judged("multi_agency_service_answer_v1", answer))}
    assert codes == {Code.REPLY_UNGROUNDED}


def test_it_holds_decision_12_no_source_no_answer() -> None:
    answer = valid("multi_agency_service_answer_v1")
    answer.update(assistantReply="Please ask at the counter.", sourcesUsed=[])
    codes = {code for code, _ in found(judged("multi_agency_service_answer_v1", answer))}
    assert codes == {Code.SOURCES_MISSING}


def test_it_holds_decision_13_state_is_rebuilt_and_history_has_twenty_items() -> None:
    history = [{"role": "user", "text": f"question {i}"} for i in range(25)]
    model = ScriptedModel()
    run(model, history=history)
    assert len(payload(model.requests[0])["chat_context_summary"]) == 20
    assert set(payload(model.requests[1])["cached_state"]) == {"session_id", "judgement_v1"}


def test_it_holds_decision_14_persona_first_directive_second_data_last() -> None:
    model = ScriptedModel(high_script())
    run(model, text="zebra " + "my passport was stolen")
    assert len({request.messages[0].content for request in model.requests}) == 1
    for asked in model.requests:
        assert [m.role for m in asked.messages] == ["system", "system", "user"]
        assert "zebra" not in asked.messages[0].content + asked.messages[1].content
        assert payload(asked)["user_prompt"].startswith("zebra")


@pytest.mark.parametrize(
    ("snippets", "code"),
    [
        ([], Code.EVIDENCE_MISSING),
        (["on"], Code.EVIDENCE_TRIVIAL),
        (["."], Code.EVIDENCE_TRIVIAL),
        (["a"], Code.EVIDENCE_TRIVIAL),
    ],
)
def test_it_holds_decision_15_every_element_has_a_real_quote(
    snippets: list[str], code: Code
) -> None:
    answer = valid("classify")
    answer["intents"][0]["evidence_snippets"] = snippets
    assert [finding.code for finding in judged("classify", answer).findings] == [code]


@pytest.mark.parametrize(
    ("value", "passes"),
    [("3 May", True), ("3May", True), ("*** May", True), ("13 May", False), ("May 4", False)],
)
def test_it_holds_decision_16_values_stand_in_their_quotes(value: str, passes: bool) -> None:
    answer = valid("extract")
    answer["entities"][0]["value_redacted"] = value
    assert judged("extract", answer).passed is passes


def test_it_holds_decision_17_what_each_stage_is_given() -> None:
    model = ScriptedModel(high_script())
    run(model)
    given_slots = {request.contract: set(payload(request)) for request in model.requests}
    common = {"contract", "attempt", "user_prompt", "chat_context_summary"}
    assert given_slots["judgement_v1"] == common
    assert given_slots["agency_detect_v1"] >= common | {"agencies", "cached_state"}
    assert "KnowledgeBase_Dictionary" in given_slots["semantic_analysis_v1"]
    assert "service_index" in given_slots["service_select_v1"]
    services = payload(model.requests[3])["service_index"]
    assert [s["rank"] for s in services] == list(range(1, len(services) + 1))


def test_it_holds_decision_18_one_finding_stops_the_whole_answer() -> None:
    answer = valid("semantic_analysis_v1")
    answer["semanticAnalysis"]["agencies"][1]["categorySelection"]["candidates"]["rooms"][
        "score"
    ] = 0.4
    judgement = judged("semantic_analysis_v1", answer)
    assert len(judgement.findings) == 1
    assert judgement.state_merge is None


def test_it_lets_a_person_waive_low_scores_and_policy_only() -> None:
    assert {code.value for code in WAIVABLE} == {
        "score.minimum",
        "policy.risk",
        "policy.confidence",
        "policy.language",
    }

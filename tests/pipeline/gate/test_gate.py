"""The gate: its order, its codes, and that nothing a model says is an exception."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import has_two_decimals
from ieim.pipeline.ports import ModelAnswer
from tests.pipeline.build import (
    CONTRACTS,
    SESSION,
    STAGE_CONTRACTS,
    TEXT,
    context,
    found,
    judged,
    state,
    valid,
)

DAMAGED = yaml.safe_load(Path(__file__).with_name("damaged.yaml").read_text(encoding="utf-8"))


def put(answer: Any, pointer: str, value: Any) -> None:
    *path, last = pointer[1:].split("/")
    for part in path:
        answer = answer[int(part) if isinstance(answer, list) else part]
    answer[int(last) if isinstance(answer, list) else last] = value


@pytest.mark.parametrize("contract", CONTRACTS)
def test_it_passes_a_right_answer(contract: str) -> None:
    judgement = judged(contract, valid(contract))
    assert found(judgement) == []
    assert judgement.state_merge is not None


@pytest.mark.parametrize("text", ["By when?", "why", "??"])
def test_every_label_may_stand_on_filler_where_the_message_is_nothing_else(text: str) -> None:
    answer = valid("classify")
    for label in (*answer["intents"], answer["product_line"], answer["urgency"]):
        label["evidence_snippets"] = [text]
    answer["risk_flags"] = []
    assert found(judged("classify", answer, user_prompt=text)) == []
    longer = judged("classify", answer, user_prompt=f"{text} My passport was stolen")
    assert (Code.EVIDENCE_TRIVIAL, "/urgency/evidence_snippets/0") in found(longer)


def test_a_fact_stands_on_no_filler_even_then() -> None:
    answer = valid("extract")
    answer["entities"] = [
        {**answer["entities"][0], "value_redacted": "when", "evidence_snippets": ["By when"]}
    ]
    found_there = found(judged("extract", answer, user_prompt="By when?"))
    assert found_there == [(Code.EVIDENCE_TRIVIAL, "/entities/0/evidence_snippets/0")]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_it_names_an_unknown_field_by_its_pointer(contract: str) -> None:
    answer = valid(contract) | {"a/b~c": 1}
    assert found(judged(contract, answer)) == [(Code.SCHEMA, "/a~1b~0c")]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_it_finds_every_missing_field(contract: str) -> None:
    for name in valid(contract):
        answer = valid(contract)
        del answer[name]
        judgement = judged(contract, answer)
        assert (Code.SCHEMA, "") in found(judgement)
        assert judgement.state_merge is None


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ModelAnswer("", refusal="I cannot help."), Code.MODEL_REFUSAL),
        (ModelAnswer("{}", finish_reason="content_filter"), Code.MODEL_REFUSAL),
        (ModelAnswer('{"a": 1', finish_reason="length"), Code.MODEL_TRUNCATED),
        (ModelAnswer('"' + "x" * 262_144 + '"'), Code.MODEL_TOO_LARGE),
        (ModelAnswer('"' + "ü" * 131_072 + '"'), Code.MODEL_TOO_LARGE),
        (ModelAnswer(""), Code.JSON_SYNTAX),
        (ModelAnswer("[]"), Code.JSON_NOT_OBJECT),
        (ModelAnswer('{"a": 1, "a": 2}'), Code.JSON_DUPLICATE_KEY),
    ],
)
def test_it_judges_the_model_and_the_json_before_anything_else(
    answer: ModelAnswer, code: Code
) -> None:
    assert found(judged("judgement_v1", answer))[0][0] is code


@pytest.mark.parametrize("case", DAMAGED, ids=lambda case: f"{case['contract']} {case['put']}"[:60])
def test_it_names_what_is_wrong(case: dict[str, Any]) -> None:
    answer = valid(case["contract"])
    for pointer, value in case["put"].items():
        put(answer, pointer, value)
    judgement = judged(case["contract"], answer)
    assert [[code, path] for code, path in found(judgement)] == case["finds"]
    assert judgement.state_merge is None


def test_it_collects_all_findings_of_a_step_and_none_of_a_later_one() -> None:
    answer = valid("semantic_analysis_v1")
    for entry in answer["semanticAnalysis"]["agencies"]:
        for candidate in entry["categorySelection"]["candidates"].values():
            candidate["score"] = 0.123
    answer["nextStep"] = "service_select_v1"
    codes = [code for code, _ in found(judged("semantic_analysis_v1", answer))]
    assert codes == [Code.SCORE_PRECISION, Code.SCORE_MINIMUM] * 2


def test_it_keeps_no_more_findings_than_a_person_could_read() -> None:
    answer = valid("judgement_v1") | {f"x{i}": i for i in range(5000)}
    assert len(judged("judgement_v1", answer).findings) == 100


@pytest.mark.parametrize(
    "contract", [c for c in STAGE_CONTRACTS if c not in ("judgement_v1", "service_select_v1")]
)
def test_it_judges_the_branch_first_and_alone(contract: str) -> None:
    wrong = {"session_id": SESSION}
    assert found(judged(contract, valid(contract), cached_state=wrong)) == [(Code.ROUTE_BRANCH, "")]


@pytest.mark.parametrize(
    ("contract", "branch"), [("category_select_v1", "high"), ("semantic_analysis_v1", "low")]
)
def test_it_refuses_a_stage_of_the_other_branch(contract: str, branch: str) -> None:
    judgement = judged(contract, valid(contract), cached_state=state(branch))
    assert found(judgement) == [(Code.ROUTE_BRANCH, "")]


def test_it_never_fails_on_a_strange_cached_state() -> None:
    shapes: list[dict[str, Any]] = [
        {},
        {"agency_detect_v1": 3},
        {"agency_detect_v1": {"agencyDetected": {}}},
    ]
    for strange in shapes:
        cached = {"session_id": SESSION, **strange}
        judgement = judged("category_select_v1", valid("category_select_v1"), cached_state=cached)
        assert found(judgement) == [(Code.ROUTE_BRANCH, "")]


@pytest.mark.parametrize(
    "contract", [c for c in STAGE_CONTRACTS if c not in ("judgement_v1", "agency_detect_v1")]
)
def test_it_knows_no_branch_for_what_is_no_inquiry(contract: str) -> None:
    cached = {**context(contract).cached_state, "judgement_v1": {"inquiry": False}}
    judgement = judged(contract, valid(contract), cached_state=cached)
    assert found(judgement) == [(Code.ROUTE_BRANCH, "")]


@pytest.mark.parametrize("score", ["0.9", None, True, [], {}])
def test_it_takes_no_category_without_a_score_from_a_strange_cached_state(score: Any) -> None:
    answer = valid("service_select_v1")
    answer["template"]["placeholders"]["category_value"] = "{category_value}"
    candidates: dict[str, Any] = {"lost": {"value": "Lost passports", "score": 0.9}}
    cached = state() | {"category_select_v1": {"candidates": candidates}}
    assert judged("service_select_v1", answer, cached_state=cached).passed
    candidates["new"] = {"value": "New passports", "score": score}
    assert judged("service_select_v1", answer, cached_state=cached).passed
    candidates["lost"]["score"] = score
    judgement = judged("service_select_v1", answer, cached_state=cached)
    unresolved = (Code.TEMPLATE_UNRESOLVED, "/template/placeholders/category_value")
    assert found(judgement) == [unresolved]


@pytest.mark.parametrize("selection", [None, "x", ["x"], {}, {"candidates": ["x"]}])
def test_it_takes_no_category_from_a_strange_analysis(selection: Any) -> None:
    answer = valid("service_select_v1")
    answer["nextStep"] = "multi_agency_service_answer_v1"
    cached = state("high", "service_select_v1")
    assert judged("service_select_v1", answer, cached_state=cached).passed
    cached["semantic_analysis_v1"]["agencies"][0]["categorySelection"] = selection
    assert judged("service_select_v1", answer, cached_state=cached).passed
    answer["template"]["placeholders"]["category_value"] = "{category_value}"
    judgement = judged("service_select_v1", answer, cached_state=cached)
    unresolved = (Code.TEMPLATE_UNRESOLVED, "/template/placeholders/category_value")
    assert found(judgement) == [unresolved]


def test_it_refuses_a_response_id_that_was_used() -> None:
    judgement = judged(
        "agency_detect_v1", valid("agency_detect_v1"), used_response_ids=frozenset({"r-1"})
    )
    assert found(judgement) == [(Code.RESPONSE_REUSED, "/response_id")]


def test_it_finds_no_agency_for_an_inquiry() -> None:
    answer = valid("agency_detect_v1")
    answer["judgements"].update(agencyDetected=[], agencyInfo=[], agencyCount=0)
    answer["nextStep"] = "session_end"
    codes = {code for code, _ in found(judged("agency_detect_v1", answer))}
    # Alone: there is no branch yet to be wrong about, and this is how a model abstains.
    assert codes == {Code.AGENCY_COUNT}


def test_it_gives_the_evidence_with_offsets_into_the_text_as_sent() -> None:
    answer = valid("classify")
    answer["urgency"]["evidence_snippets"] = ["please  HELP today"]
    judgement = judged("classify", answer)
    span = next(e for e in judgement.evidence if e.path == "/urgency/evidence_snippets/0")
    assert TEXT[span.start : span.end] == "Please help today"
    assert span.quote == "please  HELP today"
    assert span.as_dict()["source"] == "user_prompt"


@pytest.mark.parametrize("good", ["0.9", "0.50", "5e-1", "1", "0", "1.00", "0.57", "0.500000"])
def test_it_holds_two_decimals_by_value(good: str) -> None:
    raw = json.dumps(valid("service_select_v1")).replace("0.9", good)
    findings = judged("service_select_v1", raw).findings
    assert Code.SCORE_PRECISION not in {finding.code for finding in findings}


@pytest.mark.parametrize("bad", ["0.876", "0.5700000000000001", "5e-3", "0.50" + "0" * 40 + "1"])
def test_it_holds_more_than_two_decimals_are_a_finding(bad: str) -> None:
    raw = json.dumps(valid("service_select_v1")).replace("0.9", bad)
    codes = {finding.code for finding in judged("service_select_v1", raw).findings}
    assert Code.SCORE_PRECISION in codes
    # The prompt contract has no such rule: a confidence stays as it was said.
    judgement = judged("classify", json.dumps(valid("classify")).replace("0.9", bad))
    assert judgement.passed
    assert judgement.output is not None
    assert str(judgement.output["urgency"]["confidence"]) == str(Decimal(bad))


@given(st.integers(0, 100))
def test_it_holds_every_valid_score_is_valid(hundredths: int) -> None:
    assert has_two_decimals(Decimal(hundredths) / 100)
    assert not has_two_decimals((Decimal(hundredths) / 100) + Decimal("0.001"))


def test_it_holds_only_the_documented_slices_are_merged() -> None:
    merged = {c: judged(c, valid(c)).state_merge for c in CONTRACTS}
    assert merged["judgement_v1"] == {"judgement_v1": {"inquiry": True}}
    assert set(merged["agency_detect_v1"] or {}) == {"agency_detect_v1", "nextStep"}
    assert set((merged["category_select_v1"] or {})["category_select_v1"]) == {"candidates"}
    service = (merged["service_select_v1"] or {})["service_select_v1"]
    assert set(service) == {"serviceSelection", "template"}
    whole = (merged["multi_agency_service_answer_v1"] or {})["multi_agency_service_answer_v1"]
    assert whole == valid("multi_agency_service_answer_v1")
    assert merged["classify"] == {}


def test_it_holds_one_legal_next_step() -> None:
    high = state("high", "service_select_v1")
    answer = valid("service_select_v1")
    assert found(judged("service_select_v1", answer, cached_state=high)) == [
        (Code.ROUTE_NEXT_STEP, "/nextStep")
    ]
    answer["nextStep"] = "multi_agency_service_answer_v1"
    assert judged("service_select_v1", answer, cached_state=high).passed


@pytest.mark.parametrize(
    "claim",
    [
        "See https://passports.example.evil.test/x.",
        "It costs MRK 450.00.",
        "Call +999 20 555 0199.",
        "The office opens on 3 June 2027.",
    ],
)
def test_it_holds_every_fact_is_traceable(claim: str) -> None:
    answer = valid("multi_agency_service_answer_v1")
    answer["assistantReply"] += f" {claim}"
    codes = {code for code, _ in found(judged("multi_agency_service_answer_v1", answer))}
    assert codes == {Code.REPLY_UNGROUNDED}


def test_it_keeps_scores_with_two_decimals() -> None:
    judgement = judged("category_select_v1", valid("category_select_v1"))
    assert judgement.output is not None
    score = judgement.output["categorySelection"]["candidates"]["lost"]["score"]
    assert isinstance(score, Decimal)
    assert str(score) == "0.90"


@pytest.mark.parametrize("contract", CONTRACTS)
@given(data=st.data())
def test_it_never_raises_and_never_passes_a_damaged_answer_unseen(
    contract: str, data: st.DataObject
) -> None:
    raw = json.dumps(valid(contract))
    at = data.draw(st.integers(0, len(raw) - 1))
    junk = data.draw(st.text(max_size=4))
    cut = data.draw(st.integers(0, 6))
    judgement = judged(contract, raw[:at] + junk + raw[at + cut :])
    # Whatever passes is a complete, legal answer: it has a slice to merge; nothing else has.
    assert judgement.passed == (judgement.state_merge is not None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("contract", CONTRACTS)
@given(data=st.data())
def test_it_never_raises_for_a_value_of_the_wrong_kind_anywhere(
    contract: str, data: st.DataObject
) -> None:
    answer = valid(contract)
    node: Any = answer
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(node[key], dict | list) and node[key] and data.draw(st.booleans()):
            node = node[key]
            continue
        node[key] = data.draw(JSON)
        break
    judgement = judged(contract, json.dumps(answer))
    assert judgement.passed == (judgement.state_merge is not None)

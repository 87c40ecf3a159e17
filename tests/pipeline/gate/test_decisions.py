"""The rules of the gate: how answers are judged."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import has_two_decimals
from tests.pipeline.build import CONTRACTS, found, judged, state, valid


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

"""A chosen service is about this message, or the message goes on with the talk (decision 24)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.choosing import abstains
from ieim.pipeline.findings import WAIVABLE, Code
from ieim.pipeline.gate import subject
from ieim.pipeline.stages import service_select
from tests.pipeline.build import context, found, judged, valid

BEFORE = [
    {"role": "user", "text": "How do I renew a passport?"},
    {"role": "assistant", "text": "Renew.", "agency": "passports", "service": "talk"},
]
SHARES = st.floats(0, 5, allow_nan=False)


def request(**changes: Any) -> dict[str, Any]:
    """What service_select_v1 was sent in a talk about the service ``talk``."""
    slots = [
        {"agencyId": "passports", "serviceKey": "talk", "score": 2.0, "own": 0.2},
        {"agencyId": "passports", "serviceKey": "other", "score": 1.5, "own": 1.0},
    ]
    return {
        "chat_context_summary": BEFORE,
        "service_index": slots,
        "best_own": 1.0,
        "goes_on": 0.0,
        **changes,
    }


def codes(chosen: str, sent: dict[str, Any]) -> list[Code]:
    return [finding.code for finding in subject.check("passports", chosen, sent)]


@pytest.mark.parametrize(
    ("goes_on", "talk", "other"),
    [
        (1.0, [], []),  # surely goes on: the talk's service needs nothing of the message
        (0.5, [Code.ROUTE_SUBJECT], []),  # nobody can tell: the citizen is asked
        (0.0, [Code.ROUTE_SUBJECT], []),  # it has left the talk
    ],
)
def test_the_talks_service_needs_a_message_that_goes_on(
    goes_on: float, talk: list[Code], other: list[Code]
) -> None:
    sent = request(goes_on=goes_on)
    assert codes("talk", sent) == talk
    assert codes("other", sent) == other


def test_a_correction_that_says_the_same_words_is_asked() -> None:
    slots = [
        {"agencyId": "passports", "serviceKey": "talk", "score": 2.0, "own": 1.0},
        {"agencyId": "passports", "serviceKey": "other", "score": 1.5, "own": 0.9},
    ]
    assert codes("talk", request(service_index=slots, goes_on=0.5)) == [Code.ROUTE_SUBJECT]
    # A message that has left the talk may name the same service anew.
    assert codes("talk", request(service_index=slots, goes_on=0.0)) == []


def test_nothing_but_the_candidates_can_be_about_a_message() -> None:
    assert codes("elsewhere", request()) == [Code.ROUTE_SUBJECT]


@pytest.mark.parametrize(
    ("slot", "wrong"),
    [
        ({"score": 0.4, "meaning": 0.1}, False),
        ({"score": -0.1, "meaning": -0.1}, True),
        ({"score": 0.0}, False),  # words alone cannot tell in another language
    ],
)
def test_a_first_message_needs_something_in_common(slot: dict[str, Any], wrong: bool) -> None:
    sent = {
        "chat_context_summary": [],
        "service_index": [{"agencyId": "passports", "serviceKey": "one", **slot}],
    }
    assert codes("one", sent) == ([Code.ROUTE_SUBJECT] if wrong else [])


@given(SHARES, SHARES, st.floats(0, 1))
def test_the_best_one_by_itself_always_stands(own: float, less: float, goes_on: float) -> None:
    slots = [
        {"agencyId": "passports", "serviceKey": "other", "score": own, "own": own},
        {"agencyId": "passports", "serviceKey": "talk", "score": less, "own": min(own, less)},
    ]
    sent = request(service_index=slots, best_own=own, goes_on=goes_on)
    assert codes("other", sent) == []


@given(SHARES, SHARES)
def test_more_evidence_never_speaks_against_a_service(one: float, two: float) -> None:
    def wrong(own: float) -> int:
        slots = [{"agencyId": "passports", "serviceKey": "other", "score": 1.0, "own": own}]
        return len(codes("other", request(service_index=slots, best_own=2.0)))

    low, high = sorted((one, two))
    assert wrong(high) <= wrong(low)


def test_the_gate_says_so_of_a_model_and_not_of_a_person() -> None:
    contract = "service_select_v1"
    answer = valid(contract)
    key = answer["serviceSelection"]["serviceKey"]
    slots = [{"agencyId": "passports", "serviceKey": key, "score": 1.0, "own": 0.1}]
    sent = request(service_index=slots)
    judgement = judged(contract, answer, request=sent)
    assert found(judgement) == [(Code.ROUTE_SUBJECT, subject.SELECTED)]
    assert judged(contract, answer).passed
    assert judged(contract, answer, request={**sent, "goes_on": 1.0}).passed
    assert context(contract).request is None


def test_it_is_an_abstention_that_nobody_may_waive() -> None:
    contract = "service_select_v1"
    answer = valid(contract)
    slots = [{"agencyId": "passports", "serviceKey": "x", "score": 1.0, "own": 0.1}]
    judgement = judged(contract, answer, request=request(service_index=slots))
    assert abstains(service_select.STAGE, judgement.output, judgement.findings)
    both = [*judgement.findings, replace(judgement.findings[0], code=Code.TEMPLATE_UNRESOLVED)]
    assert not abstains(service_select.STAGE, judgement.output, both)
    assert Code.ROUTE_SUBJECT not in WAIVABLE

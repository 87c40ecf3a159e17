"""A chosen service is about this message, or the message goes on (docs/decisions/0040)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
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
UNSURE = Decimal("0.60")
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
        **changes,
    }


def codes(chosen: str, sent: dict[str, Any], score: Decimal = UNSURE) -> list[Code]:
    return [finding.code for finding in subject.check("passports", chosen, sent, score)]


@pytest.mark.parametrize(
    ("chosen", "own", "score", "stands"),
    [
        ("other", 0.6, "0.50", True),  # it shares evidence with the message
        ("other", 0.5, "0.79", False),  # and this too little
        ("other", 0.0, "0.80", True),  # a sure model is believed
        ("talk", 0.0, "0.50", True),  # it goes on with the talk
        ("elsewhere", 1.0, "0.99", False),  # no candidate
    ],
)
def test_what_is_about_a_message_in_a_talk(
    chosen: str, own: float, score: str, stands: bool
) -> None:
    slots = [
        {"agencyId": "passports", "serviceKey": "talk", "score": 2.0, "own": own},
        {"agencyId": "passports", "serviceKey": "other", "score": 1.5, "own": own},
    ]
    found = codes(chosen, request(service_index=slots), Decimal(score))
    assert found == ([] if stands else [Code.ROUTE_SUBJECT])


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


@pytest.mark.parametrize(
    ("others", "best", "stands"),
    [
        ([1.0, 0.9], 1.0, False),  # another is clear, and this one the last and far behind
        ([1.0, 0.9], 1.4, False),
        ([1.0, 0.9], 1.5, True),  # the search is not clear: another agency's is nearer by far
        ([1.3, 0.9], 2.0, False),  # but this one is so far ahead
        ([0.9, 0.85], 1.0, True),  # not far behind
        ([1.0, 0.7], 1.0, True),  # not the last
        ([1.0], 1.0, True),  # of two nothing can be said
        ([1.0, 0.9], None, True),  # a request of an older version
    ],
)
def test_who_is_far_behind_a_clear_winner_is_doubted_however_sure(
    others: list[float], best: float | None, stands: bool
) -> None:
    keys = ["one", "two", "three"]
    slots = [
        {"agencyId": "passports", "serviceKey": key, "score": score, "meaning": 0.1}
        for key, score in zip(keys, [0.75, *others], strict=False)
    ]
    slots.append({"agencyId": "parks", "serviceKey": "x", "score": 0.1, "meaning": 0.1})
    sent: dict[str, Any] = {"chat_context_summary": [], "service_index": slots}
    sent |= {} if best is None else {"best_own": best}
    found = codes("one", sent, Decimal("0.99"))
    assert found == ([] if stands else [Code.ROUTE_SUBJECT])
    # Nor does one stand behind it that is there only because its topic was selected.
    topic = {"agencyId": "passports", "serviceKey": "topic", "rank": 6, "score": 0.1}
    slots.append({**topic, "meaning": 0.1})
    assert codes("one", sent, Decimal("0.99")) == found
    slots[0]["rank"] = 6  # its topic was selected
    assert codes("one", sent, Decimal("0.99")) == []
    # In a talk it may be meant all the same, and words alone cannot tell.
    assert codes("one", {**sent, "chat_context_summary": BEFORE}, Decimal("0.99")) == []
    for slot in slots:
        del slot["meaning"]
    assert codes("one", sent, Decimal("0.99")) == []


@given(SHARES, SHARES)
def test_the_best_one_by_itself_always_stands(own: float, less: float) -> None:
    slots = [
        {"agencyId": "passports", "serviceKey": "other", "score": own, "own": own},
        {"agencyId": "passports", "serviceKey": "talk", "score": less, "own": min(own, less)},
    ]
    sent = request(service_index=slots, best_own=own)
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
    answer["serviceSelection"]["score"] = 0.79
    judgement = judged(contract, answer, request=sent)
    assert found(judgement) == [(Code.ROUTE_SUBJECT, subject.SELECTED)]
    assert judged(contract, answer).passed
    answer["serviceSelection"]["score"] = 0.8
    assert judged(contract, answer, request=sent).passed
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

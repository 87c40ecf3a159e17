"""Whether a chosen service is about the message (decision 24)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ieim.pipeline.choosing import abstains
from ieim.pipeline.findings import WAIVABLE, Code
from ieim.pipeline.gate import subject
from ieim.pipeline.stages import service_select
from tests.pipeline.build import found, judged, valid

TALK = [
    {"role": "user", "text": "about a visa"},
    {"role": "assistant", "text": "Fill in.", "agency": "passports", "service": "talk"},
]


def request(first: float = 0.9, talk: bool = False, key: str = "chosen", rank: int = 3) -> Any:
    """Return what a model was sent: three services, of which ``key`` has this rank."""
    keys = ["one", "two", "three"]
    keys.insert(rank - 1, key)
    slots = [
        {"agencyId": "passports", "serviceKey": key, "rank": place}
        for place, key in enumerate(keys, 1)
    ]
    return {
        "chat_context_summary": TALK if talk else [],
        "service_index": slots,
        "ranking": {"first": first},
    }


def codes(chosen: str, sent: Any, score: str | None = "0.99") -> list[str]:
    sure = None if score is None else Decimal(score)
    return [entry.code.value for entry in subject.check("passports", chosen, sent, sure)]


WRONG = ["route.subject"]


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        (request(first=0.80), True),
        (request(first=0.79), False),
        (request(rank=2), False),
        (request(rank=4), True),
    ],
)
def test_in_a_first_message_the_search_is_believed_where_it_is_sure(sent: Any, wrong: bool) -> None:
    assert codes("chosen", sent) == (WRONG if wrong else [])


@pytest.mark.parametrize(
    ("sent", "score", "wrong"),
    [
        (request(talk=True), "0.80", False),
        (request(talk=True), "0.79", True),
        (request(talk=True, first=0.1), "0.79", True),
        (request(talk=True, rank=2), "0.79", False),
        (request(talk=True, key="talk"), "0.79", False),
    ],
)
def test_in_a_talk_a_sure_model_is_believed(sent: Any, score: str, wrong: bool) -> None:
    key = (
        "talk"
        if any(entry["serviceKey"] == "talk" for entry in sent["service_index"])
        else "chosen"
    )
    assert codes(key, sent, score) == (WRONG if wrong else [])


def test_what_was_not_among_the_candidates_is_never_believed() -> None:
    assert codes("elsewhere", request()) == WRONG
    assert codes("elsewhere", request(), None) == WRONG


def test_of_several_agencies_and_of_an_older_version_the_ranking_says_nothing() -> None:
    assert codes("chosen", request(), None) == []
    sent = request()
    del sent["ranking"]
    assert codes("chosen", sent) == []


def test_it_is_an_abstention_of_a_model_that_nobody_may_waive() -> None:
    contract = "service_select_v1"
    answer = valid(contract)
    sent = request(key=answer["serviceSelection"]["serviceKey"])
    judgement = judged(contract, answer, request=sent)
    assert found(judgement) == [(Code.ROUTE_SUBJECT, subject.SELECTED)]
    assert judged(contract, answer).passed  # a person read the message
    assert abstains(service_select.STAGE, judgement.output, judgement.findings)
    both = [*judgement.findings, replace(judgement.findings[0], code=Code.TEMPLATE_UNRESOLVED)]
    assert not abstains(service_select.STAGE, judgement.output, both)
    assert Code.ROUTE_SUBJECT not in WAIVABLE

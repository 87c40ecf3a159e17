"""The engine as a model: its port, its answers' envelope, inputs with little or nothing in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ieim.llm.offline import OfflineInputError, OfflineModel, tokens
from ieim.pipeline.contract import load
from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import Judgement, judge
from ieim.pipeline.ports import Message, ModelAnswer
from ieim.pipeline.stages.base import Context
from tests.llm.requested import request
from tests.pipeline.build import RELEASE, SESSION, state

AGENCY = {
    "agencyId": "passports",
    "name": "Passport Office",
    "path": "https://passports.example",
    "description": "Issues passports.",
    "rank": 1,
    "score": 4.2,
    "services": ["Replace a lost passport"],
}


def said(contract: str, text: str = "I lost my passport", **slots: Any) -> ModelAnswer:
    """Return the engine's answer to an input with ``slots``."""
    asked = {
        "contract": contract,
        "attempt": 1,
        "user_prompt": text,
        "chat_context_summary": [],
        "request_id": "r-1",
        "cached_state": state(upto=contract),
        **slots,
    }
    messages = (*request().messages[:2], Message("user", json.dumps(asked)))
    return OfflineModel().complete(
        request(contract=contract, attempt=asked["attempt"], messages=messages), deadline=1
    )


def judged(contract: str, text: str, answer: ModelAnswer, **context: Any) -> Judgement:
    """Return what the gate says of ``answer``."""
    cached = context.pop("cached_state", state(upto=contract))
    labels = {name: frozenset(codes) for name, codes in RELEASE.labels.items()}
    return judge(
        load(contract),
        answer,
        Context(
            **{
                "attempt": 1,
                "user_prompt": text,
                "cached_state": cached,
                "release": RELEASE,
                "labels": labels,
                **context,
            }
        ),
    )


def test_it_says_who_it_is_and_counts_tokens_by_bytes() -> None:
    model = OfflineModel()
    asked = request("passport é")
    given = model.complete(asked, deadline=0)
    assert model.name == given.model == "ieim-offline"
    assert given.prompt_tokens == tokens(asked.size) == -(-asked.size // 4)
    assert given.completion_tokens == tokens(len(given.raw.encode()))


def test_it_gives_the_same_answer_to_the_same_question() -> None:
    assert said("agency_detect_v1", agencies=[AGENCY]) == said(
        "agency_detect_v1", agencies=[AGENCY]
    )


def test_it_is_cut_off_at_the_budget_like_a_server() -> None:
    given = OfflineModel().complete(request(max_output_tokens=5), deadline=1)
    assert (len(given.raw), given.finish_reason, given.completion_tokens) == (20, "length", 5)


@pytest.mark.parametrize(
    "content",
    ["", "hello", "[]", "{}", '{"contract": "poem"}', '{"contract": []}', "[" * 100_000],
)
def test_it_refuses_an_input_that_no_contract_builds(content: str) -> None:
    messages = (*request().messages[:2], Message("user", content))
    with pytest.raises(OfflineInputError, match="contract"):
        OfflineModel().complete(request(messages=messages), deadline=1)


def test_it_refuses_an_input_that_lacks_a_slot() -> None:
    with pytest.raises(OfflineInputError, match="lacks a slot"):
        said("agency_detect_v1")


def test_it_echoes_the_session_and_takes_the_request_id() -> None:
    output = json.loads(said("agency_detect_v1", agencies=[AGENCY]).raw)
    assert (output["session_id"], output["response_id"]) == (SESSION, "r-1")
    assert output["telemetry"] == {"notes": None}


def test_it_says_on_attempt_two_what_it_was_told() -> None:
    found = [{"code": "score.minimum", "path": "/x"}, {"code": "schema", "path": ""}]
    given = said("agency_detect_v1", agencies=[AGENCY], attempt=2, previous_findings=found)
    notes = json.loads(given.raw)["telemetry"]["notes"]
    assert notes == "Asked again after: schema, score.minimum."
    assert judged("agency_detect_v1", "I lost my passport", given, attempt=2).passed


@pytest.mark.parametrize("agencies", [[], [{**AGENCY, "score": 0.0, "services": []}]])
def test_it_finds_no_agency_when_none_matches(agencies: list[Any]) -> None:
    given = said("agency_detect_v1", agencies=agencies, runtime_directive=None)
    judgements = json.loads(given.raw)["judgements"]
    assert judgements == {
        "agencyDetected": [],
        "agencyInfo": [],
        "agencyCount": 0,
        "complexity": "low",
    }
    codes = {f.code for f in judged("agency_detect_v1", "I lost my passport", given).findings}
    assert Code.AGENCY_COUNT in codes


def test_it_lets_a_category_without_a_shared_word_just_pass() -> None:
    entry = {"agencyId": "passports", "key": "new", "value": "New passports", "keywords": []}
    given = said(
        "category_select_v1", "my wallet is gone", KnowledgeBase_Dictionary=[{**entry, "rank": 1}]
    )
    judgement = judged("category_select_v1", "my wallet is gone", given)
    assert judgement.passed
    candidates = json.loads(given.raw)["categorySelection"]["candidates"]
    assert candidates == {"new": {"value": "New passports", "score": 0.5}}


def test_it_chooses_nothing_from_an_empty_index() -> None:
    given = said("service_select_v1", service_index=[], KnowledgeBase_Dictionary=[])
    judgement = judged("service_select_v1", "I lost my passport", given)
    assert [f.code for f in judgement.findings] == [Code.KNOWLEDGE_UNKNOWN]


def test_it_writes_no_reply_when_no_service_fits() -> None:
    contract = "multi_agency_service_answer_v1"
    agencies = [{"agencyId": a, "name": RELEASE.agencies[a].name} for a in ("passports", "parks")]
    cached = state("high", upto=contract)
    given = said(contract, agencies=agencies, service_index=[], cached_state=cached)
    judgement = judged(contract, "I lost my passport", given, cached_state=cached)
    assert Code.REPLY_EMPTY in {finding.code for finding in judgement.findings}


def test_it_stays_with_the_service_of_the_talk_when_the_message_says_little() -> None:
    def service(key: str, name: str, rank: int) -> dict[str, Any]:
        fields = {"overview": "", "applicability_summary": "", "path": "", "categories": []}
        ids = {"agencyId": "passports", "serviceKey": key, "name": name}
        return {**fields, **ids, "rank": rank, "fields": ["name"]}

    history = [
        {"role": "user", "text": "passport"},
        {"role": "assistant", "text": "", "agency": "passports", "service": "passports.replace"},
    ]
    index = [
        service("passports.renew", "Renew a passport", 1),
        service("passports.replace", "Replace a lost passport", 2),
    ]
    slots = {"service_index": index, "KnowledgeBase_Dictionary": []}
    chosen = {
        text: json.loads(
            said("service_select_v1", text, chat_context_summary=history, **slots).raw
        )["serviceSelection"]["serviceKey"]
        for text in ("and how long is it?", "renew my passport instead")
    }
    assert chosen == {
        "and how long is it?": "passports.replace",
        "renew my passport instead": "passports.renew",
    }


def test_it_is_less_sure_of_the_talks_service_the_more_the_message_says_that_it_lacks() -> None:
    service = {
        "agencyId": "passports",
        "serviceKey": "passports.replace",
        "name": "Replace a lost passport",
        "overview": "Bring two photographs and your old card.",
        "applicability_summary": "",
        "path": "",
        "categories": [],
        "fields": ["name", "overview"],
        "rank": 1,
        "score": 1.0,
    }
    history = [
        {"role": "user", "text": "I lost my passport"},
        {
            "role": "assistant",
            "text": "Replace a lost passport",
            "agency": "passports",
            "service": "passports.replace",
        },
    ]

    def score(text: str) -> float:
        slots = {"service_index": [service], "KnowledgeBase_Dictionary": []}
        raw = said("service_select_v1", text, chat_context_summary=history, **slots).raw
        return float(json.loads(raw)["serviceSelection"]["score"])

    asked = score("Is it quick?")
    assert asked >= 0.5
    assert score("Do I need an appointment for it?") == asked
    assert asked > score("Is it near the harbour?") > score("Is it for kayaks in the harbour?")
    assert score("Is it for kayaks and anglers in the harbour?") < 0.5

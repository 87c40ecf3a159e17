"""The engine as a model: its port, the envelope of its answers, and inputs that are none."""

from __future__ import annotations

import json

import pytest

from ieim.llm.offline import OfflineInputError, OfflineModel, tokens
from ieim.pipeline.ports import Message
from tests.llm.offline.payloads import answered, asked
from tests.llm.requested import client, request
from tests.pipeline.build import CONTRACTS, SESSION, judged


def test_it_says_who_it_is_and_counts_tokens_by_bytes() -> None:
    model = OfflineModel()
    question = request("passport é")
    given = model.complete(question, deadline=0)
    assert model.name == given.model == "ieim-offline"
    assert given.prompt_tokens == tokens(question.size) == -(-question.size // 4)
    assert given.completion_tokens == tokens(len(given.raw.encode()))


def test_it_is_no_second_reader_in_process_or_over_http() -> None:
    url = "http://127.0.0.1:9/v1"
    assert not OfflineModel().reads
    assert not client(url, model="ieim-offline").reads
    assert client(url, model="some-language-model").reads


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


@pytest.mark.parametrize("contract", ["judgement_v1", "agency_detect_v1", "service_select_v1"])
def test_it_refuses_an_input_without_a_ranking(contract: str) -> None:
    with pytest.raises(OfflineInputError, match="lacks a slot"):
        answered(contract, ranking=None)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_its_answer_to_every_contract_passes_the_gate(contract: str) -> None:
    assert judged(contract, answered(contract)).findings == ()


def test_it_says_the_same_over_http_as_in_process(offline_endpoint: str) -> None:
    question = asked("service_select_v1")
    over_http = client(offline_endpoint).complete(question, deadline=5)
    assert over_http.raw == OfflineModel().complete(question, deadline=5).raw


def test_it_echoes_the_session_and_takes_the_request_id() -> None:
    output = json.loads(answered("agency_detect_v1"))
    assert (output["session_id"], output["response_id"]) == (SESSION, "r-1")
    assert output["telemetry"] == {"notes": None}


def test_it_notes_on_attempt_two_what_the_gate_found() -> None:
    findings = [{"code": "score.minimum", "path": "/x"}, {"code": "schema", "path": ""}]
    raw = answered("agency_detect_v1", attempt=2, previous_findings=findings)
    assert json.loads(raw)["telemetry"]["notes"] == "Asked again after: schema, score.minimum."
    assert judged("agency_detect_v1", raw, attempt=2).passed

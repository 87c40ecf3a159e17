"""What the client sends, and how it reads answers."""

from __future__ import annotations

import json
import socket
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ieim.llm.capabilities import Capabilities
from ieim.llm.openai_client import OpenAIModel
from ieim.pipeline.contract import load
from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import MAX_BYTES, judge
from ieim.pipeline.ports import Message, ModelAnswer
from ieim.pipeline.stages.base import Context
from tests.llm.raw_server import RawServer, chat, http, raw_server, saying
from tests.llm.requested import KEY, client, request
from tests.pipeline.build import RELEASE


def answer(body: bytes) -> ModelAnswer:
    """Return what the client makes of a 200 response with ``body``."""
    with raw_server(saying(http(body))) as server:
        return client(server.base_url).complete(request(), deadline=5)


def codes(given: ModelAnswer) -> set[Code]:
    """Return what the gate finds in ``given``."""
    context = Context(attempt=1, user_prompt="hello", cached_state={}, release=RELEASE)
    return {f.code for f in judge(load("judgement_v1"), given, context).findings}


def sent(**options: Any) -> dict[str, Any]:
    """Return the body that the client sends."""
    changes = options.pop("changes", {})
    with raw_server(saying(http(chat()))) as server:
        client(server.base_url, **options).complete(request(**changes), deadline=5)
    body: dict[str, Any] = json.loads(server.requests[0][1])
    return body


def test_it_reads_a_whole_answer(offline_endpoint: str) -> None:
    given = client(offline_endpoint).complete(request(), deadline=5)
    assert json.loads(given.raw)["judgements"] == {"inquiry": True}
    assert (given.finish_reason, given.refusal, given.model) == ("stop", None, "ieim-offline")
    assert given.prompt_tokens
    assert given.completion_tokens
    assert codes(given) == set()


def test_it_sends_the_messages_unchanged_and_in_order() -> None:
    texts = ("persona\u2028\u00e9", '{"a": "\\u0000"}', "  \U0001f600\r\n</s> ")
    messages = (
        Message("system", texts[0]),
        Message("system", texts[1]),
        Message("user", texts[2]),
    )
    body = sent(changes={"messages": messages})
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", texts[0]),
        ("system", texts[1]),
        ("user", texts[2]),
    ]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("ieim-offline", 0.2, 512)


def test_it_sends_only_what_was_asked_for() -> None:
    assert set(sent()) == {"model", "messages", "temperature", "max_tokens"}


def test_it_says_of_keeping_what_was_asked_only_what_is_set() -> None:
    assert sent(store=True)["store"] is True
    assert sent(store=False)["store"] is False


def test_it_names_calls_that_begin_alike_where_that_is_set() -> None:
    assert sent(cache_key=True)["prompt_cache_key"] == "ieim-judgement_v1"


def test_it_speaks_as_the_server_wants_it() -> None:
    newer = sent(max_tokens_field="max_completion_tokens", send_temperature=False)
    assert set(newer) == {"model", "messages", "max_completion_tokens"}
    assert newer["max_completion_tokens"] == 512
    overrides = {"judgement_v1": {"send_temperature": False}, "classify": {"cache_key": True}}
    assert set(sent(overrides=overrides)) == {"model", "messages", "max_tokens"}


def test_it_sends_the_response_format_that_is_configured() -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    changes = {"response_format": schema}
    assert "response_format" not in sent(changes=changes)
    assert sent(changes=changes, response_format="json_object")["response_format"] == {
        "type": "json_object"
    }
    assert sent(changes=changes, response_format="json_schema")["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "judgement_v1", "schema": schema, "strict": True},
    }
    assert "response_format" not in sent(response_format="json_schema")


def test_it_uses_another_model_for_the_stages_that_say_so() -> None:
    overrides = {"judgement_v1": {"model": "small"}, "classify": {"model": "large"}}
    assert sent(overrides=overrides)["model"] == "small"
    assert sent(overrides=overrides, changes={"contract": "extract"})["model"] == "ieim-offline"


def test_it_sends_the_key_in_its_header_only() -> None:
    with raw_server(saying(http(chat()))) as server:
        client(server.base_url).complete(request(), deadline=5)
    head, body = server.requests[0]
    assert f"authorization: Bearer {KEY}".lower() in head.lower()
    assert KEY not in body.decode()


def test_it_needs_no_key_and_asks_no_proxy(
    offline_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    model = OpenAIModel(
        offline_endpoint, "", "ieim-offline", capabilities=Capabilities(), overrides={}
    )
    assert model.complete(request(), deadline=5).raw


def test_it_asks_the_proxy_that_is_set(
    offline_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", offline_endpoint.removesuffix("/v1"))
    model = OpenAIModel(
        "http://models.invalid/v1",
        "",
        "ieim-offline",
        capabilities=Capabilities(),
        overrides={},
        has_proxy=True,
    )
    assert model.complete(request(), deadline=5).raw


@pytest.mark.parametrize("base_url", ["", "127.0.0.1:80/v1", "ftp://127.0.0.1/v1"])
def test_it_refuses_a_base_url_that_is_no_http_address(base_url: str) -> None:
    with pytest.raises(ValueError, match="IEIM_MODEL_BASE_URL"):
        client(base_url)


@pytest.mark.parametrize("key", ["sk-a\nX-Evil: 1", "sk a", "schlüssel"])
def test_it_refuses_a_key_that_cannot_stand_in_a_header(key: str) -> None:
    with pytest.raises(ValueError, match="IEIM_MODEL_API_KEY") as caught:
        OpenAIModel("http://x", key, "m", capabilities=Capabilities(), overrides={})
    assert key not in str(caught.value)


def test_it_reads_finish_reason_and_refusal() -> None:
    cut = answer(chat('{"stage": ', finish_reason="length"))
    assert cut.raw == '{"stage": '
    assert codes(cut) == {Code.MODEL_TRUNCATED}
    refused = answer(chat(None, message={"refusal": "I cannot help with that."}))
    assert (refused.raw, refused.refusal) == ("", "I cannot help with that.")
    assert codes(refused) == {Code.MODEL_REFUSAL}
    filtered = answer(chat("", finish_reason="content_filter"))
    assert codes(filtered) == {Code.MODEL_REFUSAL}


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "{"}, {"type": "text", "text": "}"}],
        [{"type": "output_text", "text": "{}", "annotations": []}],
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, "{}"],
        [{"type": "redacted_thinking", "data": "x"}, {"text": "{}"}],
        [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "{}"}],
    ],
)
def test_it_joins_the_texts_of_content_in_parts_without_the_thinking(content: Any) -> None:
    assert answer(chat(content)).raw == "{}"


def test_it_reads_a_refusal_that_is_a_part() -> None:
    refused = answer(chat([{"type": "refusal", "refusal": "I cannot help with that."}]))
    assert (refused.raw, refused.refusal) == ("", "I cannot help with that.")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("max_tokens", Code.MODEL_TRUNCATED),
        ("model_length", Code.MODEL_TRUNCATED),
        ("content_filter: RECITATION", Code.MODEL_REFUSAL),
        ("guardrail_intervened", Code.MODEL_REFUSAL),
        ("PROHIBITED_CONTENT", Code.MODEL_REFUSAL),
        ("sensitive", Code.MODEL_REFUSAL),
    ],
)
def test_it_knows_what_other_servers_call_the_end_of_an_answer(said: str, code: Code) -> None:
    assert codes(answer(chat("", finish_reason=said))) == {code}


def test_it_takes_the_first_of_several_choices() -> None:
    choices = [{"message": {"content": text}} for text in ("one", "two")]
    assert answer(json.dumps({"choices": choices}).encode()).raw == "one"


def test_it_takes_a_server_that_counts_no_tokens_or_wrongly() -> None:
    given = answer(chat())
    assert (given.prompt_tokens, given.completion_tokens) == (None, None)
    body = json.loads(chat())
    body["usage"] = {"prompt_tokens": -1, "completion_tokens": True}
    given = answer(json.dumps(body).encode())
    assert (given.prompt_tokens, given.completion_tokens) == (None, None)


def test_it_keeps_bytes_that_are_not_utf_8_for_the_gate_to_find() -> None:
    given = answer(chat("X").replace(b"X", b'{\\"a\\": \\"\xff\xfe\\"}'))
    assert given.raw == '{"a": "\udcff\udcfe"}'
    assert codes(given) == {Code.JSON_ENCODING}


def test_it_hands_over_nul_and_lone_surrogates_that_the_server_escaped() -> None:
    assert answer(chat("a\x00b")).raw == "a\x00b"
    assert answer(chat("\ud800")).raw == "\ud800"


@pytest.mark.parametrize("size", [MAX_BYTES, 10_000_000])
def test_it_hands_over_a_body_that_is_too_large_so_that_the_gate_says_so(size: int) -> None:
    given = answer(chat("\u00e9" * size))
    assert codes(given) == {Code.MODEL_TOO_LARGE}
    # What is kept of it is bounded: it is stored with the attempt.
    assert len(given.raw) <= max(MAX_BYTES + 1, 1024 * 1024)


def test_it_serves_many_threads_with_one_instance(offline_endpoint: str) -> None:
    model = client(offline_endpoint)
    kinds = ["greeting", "inquiry"] * 20

    def inquiry(kind: str) -> Any:
        given = model.complete(request(kind=kind), deadline=20)
        return json.loads(given.raw)["judgements"]["inquiry"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(inquiry, kinds)) == [False, True] * 20


def test_a_call_that_waits_keeps_what_it_has_sent_once() -> None:
    lengths: list[int] = []
    records: list[int] = []

    def measure(connection: socket.socket, server: RawServer) -> None:
        # The server is in this process: its copy is not the client's.
        lengths.append(len(server.requests.pop()[1]))
        server.over.wait(0.1)
        records.append(tracemalloc.get_traced_memory()[0])
        saying(http(chat()))(connection, server)

    long = request("x" * 1_000_000)
    with raw_server(measure) as server:
        model = client(server.base_url)
        model.complete(request(), deadline=5)  # what is read at first use is read
        tracemalloc.start()
        try:
            model.complete(long, deadline=5)
        finally:
            tracemalloc.stop()
    assert lengths[-1] > 1_000_000
    assert records[-1] < 1.5 * lengths[-1]  # the package keeps it for retries that it does not make

"""The offline engine over HTTP, spoken to without the client's help."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx2
import openai
import pytest

from ieim.llm.server import MAX_REQUEST, offline_app, running_server
from tests.llm.requested import request


def body(**changes: Any) -> dict[str, Any]:
    """Return a right request with ``changes``."""
    messages = [{"role": m.role, "content": m.content} for m in request().messages]
    return {"model": "ieim-offline", "messages": messages, **changes}


def post(base_url: str, content: Any) -> httpx2.Response:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return httpx2.post(f"{base_url}/chat/completions", content=data, trust_env=False)


def test_it_answers_as_the_protocol_says(offline_endpoint: str) -> None:
    before = int(time.time())
    given = post(offline_endpoint, body()).json()
    again = post(offline_endpoint, body()).json()
    assert given["object"] == "chat.completion"
    assert given["model"] == "ieim-offline"
    assert before <= given["created"] <= time.time()
    assert given["id"].startswith("chatcmpl-")
    assert given["id"] != again["id"]
    [choice] = given["choices"]
    assert choice["message"]["role"] == "assistant"
    assert json.loads(choice["message"]["content"])["stage"] == "judgement_v1"
    usage = given["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] == -(-request().size // 4)


def test_it_lists_its_model(offline_endpoint: str) -> None:
    client = openai.OpenAI(base_url=offline_endpoint, api_key="any", max_retries=0)
    assert [model.id for model in client.models.list()] == ["ieim-offline"]


def test_it_cuts_at_the_budget(offline_endpoint: str) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        [choice] = post(offline_endpoint, body(**{name: 3})).json()["choices"]
        assert (len(choice["message"]["content"]), choice["finish_reason"]) == (12, "length")


@pytest.mark.parametrize(
    ("content", "status", "param"),
    [
        (b"", 400, None),
        (b"hello", 400, None),
        (b"\xff", 400, None),
        (b"[" * 100_000, 400, None),
        ([], 400, None),
        (body(model="gpt-9"), 404, "model"),
        (body(messages=[]), 400, "messages"),
        (body(messages="hello"), 400, "messages"),
        (body(messages=[{"role": "user", "content": "hello"}]), 400, "messages"),
        (
            body(messages=[*body()["messages"][:2], {"role": "user", "content": "hi"}]),
            400,
            "messages",
        ),
        (
            body(messages=[*body()["messages"][:2], {"role": "user", "content": "{}"}]),
            400,
            "messages",
        ),
        (
            body(messages=[*body()["messages"][:2], {"role": "user", "content": []}]),
            400,
            "messages",
        ),
        (body(stream=True), 400, "stream"),
        (body(n=2), 400, "n"),
        (body(temperature=3), 400, "temperature"),
        (body(temperature="hot"), 400, "temperature"),
        (body(max_tokens=0), 400, "max_tokens"),
        (body(max_completion_tokens="many"), 400, "max_completion_tokens"),
        (b" " * (MAX_REQUEST + 1), 413, None),
    ],
)
def test_it_says_what_is_wrong_with_a_request(
    offline_endpoint: str, content: Any, status: int, param: str | None
) -> None:
    given = post(offline_endpoint, content)
    assert given.status_code == status
    error = given.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert error["message"].endswith(".")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/chat/completions", 405), ("POST", "/models", 405), ("GET", "/embeddings", 404)],
)
def test_it_knows_two_routes(offline_endpoint: str, method: str, path: str, status: int) -> None:
    given = httpx2.request(method, offline_endpoint + path, trust_env=False)
    assert given.status_code == status
    assert given.json()["error"]["message"]


def test_it_takes_connections_at_once_and_none_after_it_ends() -> None:
    with running_server(offline_app()) as base_url:
        assert httpx2.get(f"{base_url}/models", trust_env=False).status_code == 200
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{base_url}/models", trust_env=False)


def test_it_waits_before_an_answer_when_told_to() -> None:
    with running_server(offline_app(delay=0.2)) as base_url:
        started = time.monotonic()
        assert post(base_url, body()).status_code == 200
        assert time.monotonic() - started >= 0.2

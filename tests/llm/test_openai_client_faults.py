"""Every fault of a model server ends in its declared result, within the deadline."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import time
from email.utils import formatdate
from typing import Any

import pytest

from ieim.pipeline.ports import ModelUnavailable
from tests.llm.raw_server import (
    Misbehaviour,
    RawServer,
    chat,
    http,
    raw_server,
    saying,
)
from tests.llm.requested import KEY, client, request

DEADLINE = 0.4
GRACE = 1.0
"""Seconds that a busy machine may add."""


def unavailable(misbehave: Misbehaviour, *, deadline: float = 5) -> ModelUnavailable:
    """Return what the client raises; nothing that it tells or carries along holds the key."""
    with raw_server(misbehave) as server:
        model = client(server.base_url)
        started = time.monotonic()
        with pytest.raises(ModelUnavailable) as caught:
            model.complete(request(), deadline=deadline)
        assert time.monotonic() - started < deadline + GRACE
        assert len(server.requests) <= 1, "the client must not retry on its own"
    error = caught.value
    assert KEY not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


def silence(_connection: socket.socket, server: RawServer) -> None:
    server.over.wait(10)


def drip(response: bytes) -> Misbehaviour:
    def send(connection: socket.socket, server: RawServer) -> None:
        for byte in response:
            connection.sendall(bytes([byte]))
            if server.over.wait(0.02):
                return

    return send


def endless(head: bytes) -> Misbehaviour:
    def send(connection: socket.socket, server: RawServer) -> None:
        connection.sendall(head)
        while not server.over.is_set():
            connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    return send


def reset(connection: socket.socket, _server: RawServer) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


CHUNKED = b"HTTP/1.1 %s\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "misbehave",
    [
        silence,
        drip(http(chat("a" * 500))),
        drip(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 500),
    ],
    ids=["silence", "slow body", "slow head"],
)
def test_it_gives_up_at_the_deadline(misbehave: Misbehaviour) -> None:
    error = unavailable(misbehave, deadline=DEADLINE)
    assert error.timed_out


def test_it_waits_no_longer_than_what_is_left_once_a_part_has_come() -> None:
    def late_and_then_silent(connection: socket.socket, server: RawServer) -> None:
        server.over.wait(1.4)
        connection.sendall(http(b"{", length=500))
        silence(connection, server)

    assert unavailable(late_and_then_silent, deadline=1.5).timed_out


def test_it_gives_up_at_the_deadline_on_an_error_that_drips() -> None:
    slow = drip(http(b"x" * 500, status="503 Service Unavailable", headers="Retry-After: 3\r\n"))

    def fast_head(connection: socket.socket, server: RawServer) -> None:
        connection.sendall(http(b"", status="503 Busy", headers="Retry-After: 3\r\n", length=500))
        slow(connection, server)

    error = unavailable(fast_head, deadline=DEADLINE)
    assert "503" in str(error)
    assert error.retry_after == 3


def test_it_asks_nothing_when_no_time_is_left() -> None:
    with raw_server(saying(http(chat()))) as server:
        with pytest.raises(ModelUnavailable) as caught:
            client(server.base_url).complete(request(), deadline=0)
        assert server.requests == []
    assert caught.value.timed_out


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), ("0", 0.0), ("1.5", 1.5), ("soon", None), ("-3", None), ("9" * 400, 86_400.0)],
)
def test_it_reads_retry_after(value: str, seconds: float | None) -> None:
    error = unavailable(saying(http(b"{}", status="429 X", headers=f"Retry-After: {value}\r\n")))
    assert error.retry_after == seconds
    assert not error.timed_out
    assert "429" in str(error)


def test_it_reads_retry_after_as_a_date() -> None:
    soon = formatdate(time.time() + 60, usegmt=True)
    error = unavailable(saying(http(b"{}", status="429 X", headers=f"Retry-After: {soon}\r\n")))
    assert error.retry_after == pytest.approx(60, abs=5)
    past = formatdate(time.time() - 60, usegmt=True)
    error = unavailable(saying(http(b"{}", status="503 X", headers=f"Retry-After: {past}\r\n")))
    assert error.retry_after == 0.0


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("400", "IEIM_MODEL_NAME"),
        ("401", "IEIM_MODEL_API_KEY"),
        ("403", "IEIM_MODEL_API_KEY"),
        ("404", "IEIM_MODEL_BASE_URL"),
        ("418", "418"),
        ("500", "500"),
        ("503", "503"),
        ("307", "redirects"),
    ],
)
def test_it_tells_staff_what_to_check(status: str, hint: str) -> None:
    body = b'{"error": {"message": "Incorrect key: ' + KEY.encode() + b'", "code": "x"}}'
    headers = "Location: http://127.0.0.1:1/v1\r\n"
    error = unavailable(saying(http(body, status=f"{status} X", headers=headers)))
    assert hint in str(error)
    assert not error.timed_out


FILTERED = [
    {"error": {"message": "filtered", "code": "content_filter"}},
    {"error": {"message": "no", "param": None, "code": "content_policy_violation"}},
    {"error": {"message": "Invalid prompt: no", "type": "x", "code": "invalid_prompt"}},
    {"error": {"code": "BadRequest", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
    {
        "error": {
            "message": "proxy.BadRequestError: filtered",
            "code": "400",
            "provider_specific_fields": {"innererror": {"code": "ResponsibleAIPolicyViolation"}},
        }
    },
    {"error": {"code": "data_inspection_failed", "message": "x", "param": None}},
    {"error": {"code": 400, "message": "x", "metadata": {"reasons": ["a"], "flagged_input": "b"}}},
]
TOO_LONG_FOR_IT = [
    {"error": {"message": "x", "param": "messages", "code": "context_length_exceeded"}},
    # vLLM, before and since it wraps its errors.
    {"object": "error", "message": "This model's maximum context length is 4096.", "code": 400},
    {"error": {"message": "maximum context length is 4096", "param": "input_tokens", "code": 400}},
    {"error": {"message": "The context length is only 4096 tokens", "param": "max_tokens"}},
    # llama.cpp, a gateway to Bedrock, Mistral and Anthropic.
    {"error": {"code": 400, "message": "x", "type": "exceed_context_size_error"}},
    {"detail": "ValidationException: Input is too long for requested model."},
    {"object": "error", "message": "too large for model with 8192 maximum context length"},
    {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}},
]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(error, "content_filter") for error in FILTERED]
    + [(error, "context_length_exceeded") for error in TOO_LONG_FOR_IT],
)
@pytest.mark.parametrize("status", ["400 X", "200 OK"])
def test_what_is_wrong_with_one_text_is_no_fault_of_the_server(
    error: dict[str, Any], reason: str, status: str
) -> None:
    with raw_server(saying(http(json.dumps(error).encode(), status=status))) as server:
        given = client(server.base_url).complete(request(), deadline=5)
    assert (given.raw, given.finish_reason) == ("", reason)


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize(
    ("body", "specific"),
    [
        (b'{"error": {"message": "bad", "param": null, "code": null}}', True),
        (b'{"error": "bad request"}', True),
        (b'{"detail": [{"loc": ["body", "messages", 2, "content"], "msg": "x"}]}', True),
        (b"<html><title>Request Entity Too Large</title></html>", True),
        (b'{"error": {"message": "bad", "param": "response_format"}}', False),
        (b'{"error": {"message": "string too long", "param": "prompt_cache_key"}}', False),
        (b'{"detail": [{"loc": ["body", "store"], "msg": "extra_forbidden"}]}', False),
        (b'{"message": {"detail": [{"loc": ["body", "max_tokens"], "msg": "x"}]}}', False),
    ],
)
def test_it_tells_a_setting_that_is_not_taken_from_a_request(
    body: bytes, specific: bool, status: int
) -> None:
    error = unavailable(saying(http(body, status=f"{status} X")))
    assert (error.is_request_specific, error.status, error.passing) == (specific, status, False)


@pytest.mark.parametrize(
    ("body", "status", "passing"),
    [
        ({"error": {"message": "Rate limit exceeded", "code": 429}}, 429, True),
        ({"error": {"message": "Provider returned error", "code": 502}}, 502, True),
        ([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}], 429, True),
        ({"error": {"message": "no", "code": "401"}}, 401, False),
        ({"error": {"message": "slow down", "type": "rate_limit_error"}}, 429, True),
        ({"error": "the model is overloaded"}, 503, True),
        ({"error": {"message": "odd"}}, 500, True),
        ({"object": "error", "message": "no such model", "code": 404}, 404, False),
        ({"detail": "Invalid API key"}, 401, False),
        ({"choices": [], "error": {"code": 429, "message": "x"}}, 429, True),
        ({"choices": [{"finish_reason": "error", "message": {"content": "{"}}]}, 500, True),
        (
            {
                "choices": [
                    {
                        "finish_reason": "error",
                        "error": {"code": 502, "message": "x"},
                        "message": {"role": "assistant", "content": ""},
                    }
                ]
            },
            502,
            True,
        ),
    ],
)
def test_an_error_inside_of_a_200_is_the_error_that_it_is(
    body: Any, status: int, passing: bool
) -> None:
    error = unavailable(saying(http(json.dumps(body).encode())))
    assert (error.status, error.passing) == (status, passing)
    assert "inside of an answer with status 200" in str(error)
    assert "IEIM_MODEL_BASE_URL ends" not in str(error)


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"text": "a legacy completion"}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"choices": [{"message": {"content": [{"type": "image_url", "image_url": {}}]}}]}',
    ],
)
def test_it_says_when_a_completion_has_no_text(body: bytes) -> None:
    error = unavailable(saying(http(body)))
    assert "no text" in str(error)
    assert error.is_request_specific


@pytest.mark.parametrize(
    "misbehave",
    [
        reset,
        saying(b""),
        saying(b"HTTP/1.1 200 OK\r\nContent-"),
        saying(b"SSH-2.0-OpenSSH_9.2\r\n"),
        saying(http(chat(), length=5000)),
        saying(b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"a" * 200_000 + b"\r\n\r\n"),
    ],
    ids=["reset", "closed", "cut in the head", "another protocol", "cut in the body", "long head"],
)
def test_it_says_when_the_connection_failed(misbehave: Misbehaviour) -> None:
    error = unavailable(misbehave)
    assert "connection" in str(error)
    assert not error.timed_out


def test_it_says_when_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ModelUnavailable, match="connection") as caught:
        client(f"http://127.0.0.1:{port}/v1").complete(request(), deadline=5)
    assert not caught.value.timed_out


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Welcome</html>",
        b"null",
        b"[]",
        b"[" * 100_000,
        b'{"choices": ' + b"9" * 10_000 + b"}",
        b'{"choices": [{"message": {"content": "a"}}]} trailing',
        b'{"message": {"role": "assistant", "content": "{}"}, "done": true}',
    ],
)
def test_it_says_when_the_body_is_no_chat_completion(body: bytes) -> None:
    error = unavailable(saying(http(body)))
    assert "not a chat completion" in str(error)
    assert not error.timed_out


def test_it_takes_no_compressed_body() -> None:
    bomb = gzip.compress(chat(" " * 50_000_000))
    error = unavailable(saying(http(bomb, headers="Content-Encoding: gzip\r\n")))
    assert "not a chat completion" in str(error)


def test_it_stops_reading_a_body_without_end() -> None:
    with raw_server(endless(CHUNKED % b"200 OK")) as server:
        given = client(server.base_url).complete(request(), deadline=10)
    assert given.raw.startswith("x" * 1000)


def test_it_stops_reading_an_error_without_end() -> None:
    error = unavailable(endless(CHUNKED % b"500 Oops"), deadline=10)
    assert "500" in str(error)
    assert not error.timed_out


def test_it_goes_on_after_a_fault() -> None:
    faults = iter([saying(http(b"", status="500 X")), reset, saying(b"x"), saying(http(chat()))])

    def misbehave(connection: socket.socket, server: RawServer) -> None:
        next(faults)(connection, server)

    with raw_server(misbehave) as server:
        model = client(server.base_url)
        for _ in range(3):
            with pytest.raises(ModelUnavailable):
                model.complete(request(), deadline=5)
        assert model.complete(request(), deadline=5).raw == "{}"

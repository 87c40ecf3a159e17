"""Who is served at /mcp, and what the others are told."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import OperationalError
from pytest_django import Settings

from ieim.administration.organisation import Administration
from ieim.config.asgi import application
from ieim.studio.mcp import serving

pytestmark = pytest.mark.django_db(transaction=True)

PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ORIGIN = b"https://ask.example"


async def send(
    content: bytes | None = None,
    *headers: tuple[bytes, bytes],
    app: Any = application,
    method: str = "POST",
    host: bytes = b"ask.example",
) -> tuple[int, dict[str, str], bytes]:
    """Send one request; status, headers and body of the answer."""
    usual = [(b"content-type", b"application/json"), (b"accept", b"application/json")]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "scheme": "https",
        "query_string": b"",
        "client": ("192.0.2.7", 5000),
        "headers": [(b"host", host), *usual, *headers],
    }
    communicator: Any = ApplicationCommunicator(app, scope)  # type: ignore[no-untyped-call]  # it has none
    body = json.dumps(PING).encode() if content is None else content
    await communicator.send_input({"type": "http.request", "body": body})
    start = await communicator.receive_output(30)
    chunk = await communicator.receive_output(30)
    await communicator.wait()
    named = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return start["status"], named, chunk["body"]


@pytest.fixture(autouse=True)
def deployment(settings: Settings) -> None:
    settings.IEIM_PUBLIC_URL = ORIGIN.decode()
    settings.ALLOWED_HOSTS = [".ask.example", "ask.example"]


async def test_a_request_stands_alone(published: None) -> None:
    status, headers, body = await send()
    assert (status, headers["content-type"]) == (200, "application/json")
    assert "mcp-session-id" not in headers
    assert len(json.loads(body)["result"]["tools"]) == 5


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        (b"ask.example", ORIGIN, 200),
        (b"ask.example:443", None, 200),
        (b"www.ask.example", None, 200),
        (b"evil.example", None, 421),
        (b"127.0.0.1", None, 421),
        (b"", None, 421),
        (b"ask.example", b"https://evil.example", 403),
        (b"ask.example", b"http://ask.example", 403),
        (b"ask.example", b"null", 403),
    ],
)
async def test_only_this_site_is_answered_for(
    published: None, host: bytes, origin: bytes | None, expected: int
) -> None:
    headers = [] if origin is None else [(b"origin", origin)]
    status, _, _ = await send(None, *headers, host=host)
    assert status == expected


async def test_a_large_body_is_refused(published: None) -> None:
    status, _, body = await send(b'{"x": "' + b"x" * 32 * 1024 + b'"}')
    assert (status, body) == (413, b"Request body too large")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"jsonrpc": "2.0"}', b"null"])
async def test_what_is_no_request_is_refused(published: None, body: bytes) -> None:
    status, _, text = await send(body)
    assert 400 <= status < 500
    assert "error" in json.loads(text)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_there_are_no_streams(published: None, method: str) -> None:
    status, headers, body = await send(method=method)
    assert (status, headers["allow"]) == (405, "POST")
    assert json.loads(body)["status"] == 405


async def test_an_address_has_the_limit_of_messages(published: None, settings: Settings) -> None:
    settings.IEIM_RATES = {**settings.IEIM_RATES, "address": (2, 60)}
    statuses = [(await send())[0] for _ in range(2)]
    status, headers, body = await send()
    assert (statuses, status) == ([200, 200], 429)
    assert 0 < int(headers["retry-after"]) <= 60
    assert json.loads(body)["type"] == "urn:ieim:problem:rate-limit"


async def test_it_is_switched_off_with_rest(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = Administration({"switches": {"api": "on"}})
    monkeypatch.setattr("ieim.administration.selectors.current", lambda: off)
    status, _, body = await send()
    assert status == 503
    assert json.loads(body)["type"] == "urn:ieim:problem:switched-off"


async def test_nothing_is_published_yet() -> None:
    status, _, body = await send()
    assert status == 503
    assert json.loads(body)["type"] == "urn:ieim:problem:not-ready"


async def test_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ieim.knowledge.selectors.current_number", Mock(side_effect=OperationalError)
    )
    status, headers, _ = await send()
    assert (status, headers["retry-after"]) == (503, "10")


async def test_a_deployment_may_do_without(settings: Settings) -> None:
    async def rest(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    settings.IEIM_MCP = False
    assert (await send(app=serving.with_mcp(rest)))[0] == 404

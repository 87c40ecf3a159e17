"""What is too large is refused before it is read."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.test import Client

from ieim.config import bodies
from ieim.config.asgi import application
from ieim.people.models import User
from tests.fixtures import VISA

HUGE = 400 * 1024 * 1024
PUBLIC = ["/ask/", "/nothing/", "/api/v1/sessions/"]
AT_WORK = [*bodies.STAFF_ADDRESSES]

transactional = pytest.mark.django_db(transaction=True)


@asynccontextmanager
async def request(path: str, *headers: tuple[bytes, bytes], cookie: str = "") -> AsyncIterator[Any]:
    """Begin a POST whose body has not come yet."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "client": ("127.0.0.1", 5000),
        "headers": [(b"host", b"localhost"), (b"cookie", cookie.encode()), *headers],
    }
    communicator: Any = ApplicationCommunicator  # it has no types
    sent = communicator(application, scope)
    yield sent
    await sent.wait()


async def answer(sent: Any) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return status, headers and body of the answer."""
    start = await sent.receive_output(10)
    body = await sent.receive_output(10)
    return start["status"], dict(start["headers"]), body["body"]


def length(many: int) -> tuple[bytes, bytes]:
    return b"content-length", str(many).encode()


@database_sync_to_async
def logged_in() -> str:
    """Return the cookies of an editor's browser."""
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    return f"sessionid={client.cookies['sessionid'].value}"


@transactional
@pytest.mark.parametrize("path", [*PUBLIC, *AT_WORK])
async def test_what_is_said_to_be_too_large_is_not_read(path: str) -> None:
    async with request(path, length(HUGE)) as sent:
        # Nothing of the body has been sent: an answer comes all the same.
        status, headers, body = await answer(sent)
    assert status == 413
    assert headers[b"Connection"] == b"close"
    if path.startswith("/api/"):
        assert headers[b"Content-Type"] == b"application/problem+json"
        assert json.loads(body)["status"] == 413
    else:
        assert b"Content-Security-Policy" in headers
        assert b"This is too large" in body


@transactional
@pytest.mark.parametrize("path", ["/ask/", "/api/v1/sessions/", "/knowledge/standards/"])
async def test_what_does_not_say_its_length_is_read_so_far(path: str) -> None:
    async with request(path, (b"transfer-encoding", b"chunked")) as sent:
        for _ in range(bodies.EVERYBODY // 1024 + 1):
            await sent.send_input({"type": "http.request", "body": b"x" * 1024, "more_body": True})
        # It would go on.
        status, _, _ = await answer(sent)
    assert status == 413


@transactional
async def test_a_made_up_login_makes_no_difference() -> None:
    async with request(
        "/knowledge/standards/", length(100_000), cookie="sessionid=made-up"
    ) as sent:
        assert (await answer(sent))[0] == 413


@transactional
async def test_who_is_logged_in_may_send_files() -> None:
    cookie = await logged_in()
    for path, size, expected in (
        ("/knowledge/standards/", 1_000_000, 403),  # read, and without a CSRF token
        ("/knowledge/standards/", bodies.STAFF + 1, 413),
        ("/ask/", 100_000, 413),
    ):
        async with request(path, length(size), cookie=cookie) as sent:
            if expected != 413:
                await sent.send_input({"type": "http.request", "body": b"x" * size})
            assert (await answer(sent))[0] == expected


@transactional
async def test_a_message_of_the_longest_characters_has_room(published: None) -> None:
    text = "%F0%9F%98%80" * 2000
    body = f"text={text}".encode()
    kind = (b"content-type", b"application/x-www-form-urlencoded")
    async with request("/ask/", length(len(body)), kind) as sent:
        await sent.send_input({"type": "http.request", "body": body})
        status, _, _ = await answer(sent)
    assert status == 403  # read, and without a CSRF token
    assert len(body) < bodies.EVERYBODY


def exchange(base_url: str, parts: Iterator[bytes]) -> bytes:
    """Send parts of a request to the real server until it answers; returns what it says."""
    where = urlsplit(base_url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as sent:
        try:
            for part in parts:
                sent.sendall(part)
        except OSError:
            pass  # It has closed: the answer is there.
        value = b""
        try:
            while b"\r\n\r\n" not in value and (chunk := sent.recv(65536)):
                value += chunk
        except ConnectionResetError:
            pass
    return value


@pytest.mark.parametrize("chunked", [False, True])
def test_the_real_server_answers_and_closes(live_site: str, chunked: bool) -> None:
    how = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % HUGE
    part = b"10000\r\n" + b"x" * 65536 + b"\r\n" if chunked else b"x" * 65536

    def parts() -> Iterator[bytes]:
        yield b"POST /ask/ HTTP/1.1\r\nHost: localhost\r\n" + how + b"\r\n\r\n"
        yield part
        yield part[:1000]

    result = exchange(live_site, parts())
    assert result.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in result.lower()


def test_small_requests_go_through(client: Client, published: None) -> None:
    assert client.post("/ask/", {"text": VISA}).status_code == 303

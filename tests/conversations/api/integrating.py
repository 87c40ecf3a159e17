"""An integrator's program: a session's token, plain HTTP, and the JSON socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from conversations.chat.frames import SUBPROTOCOL
from conversations.routing import websocket_urlpatterns
from ieim.config.environment.env import Env
from ieim.config.server.origins import StrictOriginValidator

SESSIONS = "/api/v1/sessions/"
JSON = "application/json"
APPLICATION: Any = StrictOriginValidator(
    URLRouter(websocket_urlpatterns), ["https://ask.example.org"]
)


def set_rates(monkeypatch: pytest.MonkeyPatch, **rates: str) -> None:
    """Set rates by their scope; those that are not named are no limit."""
    cache.clear()
    read = Env({scope.upper(): rate for scope, rate in rates.items()})
    monkeypatch.setattr(
        settings, "IEIM_RATES", {s: read.rate(s.upper(), "none") for s in settings.IEIM_RATES}
    )


@pytest.fixture
def no_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test ask as often as it likes."""
    set_rates(monkeypatch)


class Integrator:
    """A program with a session of its own; ``opened`` is the body that it is opened with."""

    opened = b""

    def __init__(self, *, raises: bool = True) -> None:
        self.http = Client(enforce_csrf_checks=True, raise_request_exception=raises)
        made = self.http.post(SESSIONS, self.opened, content_type=JSON)
        assert made.status_code == 201
        self.id, self.token = made.json()["id"], made.json()["token"]
        self.bearer = f"Bearer {self.token}"
        self.path = f"{SESSIONS}{self.id}/"

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request with the token; returns the test client's response.

        A body that is not bytes is sent as JSON.
        """
        given = {"Authorization": self.bearer, **headers}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.generic(
            method,
            path,
            b"" if body is None else data,
            content_type=given.pop("Content-Type", JSON),
            headers={name: value for name, value in given.items() if value},
        )

    def get(self, path: str = "") -> Any:
        """Read the session, or another address."""
        return self.call("GET", path or self.path)

    def ask(self, text: Any, **more: Any) -> Any:
        """Send a message."""
        return self.call("POST", f"{self.path}turns/", {"text": text, **more})


class Socket:
    """An open JSON socket, and every frame that came."""

    def __init__(self, socket: WebsocketCommunicator) -> None:
        self.socket = socket
        self.frames: list[dict[str, Any]] = []

    async def send(self, frame: object) -> None:
        """Send a frame; a str is sent as it is."""
        text = frame if isinstance(frame, str) else json.dumps(frame)
        await self.socket.send_to(text_data=text)

    async def read(self) -> dict[str, Any]:
        """Wait for the next frame."""
        frame = json.loads(await self.socket.receive_from(timeout=10))
        assert isinstance(frame, dict)
        self.frames.append(frame)
        return frame

    async def read_until(self, kind: str, **members: Any) -> dict[str, Any]:
        """Read on to the next frame of a type with these members."""
        while True:
            frame = await self.read()
            if frame["type"] == kind and frame.items() >= members.items():
                return frame

    async def closed(self) -> int:
        """Wait until the server closes; returns the code. Frames before that are kept."""
        while True:
            output = await self.socket.receive_output(timeout=10)
            if output["type"] == "websocket.close":
                return int(output["code"])
            self.frames.append(json.loads(output["text"]))


@asynccontextmanager
async def json_socket(
    token: str | None, *, after: int | None = None, language: str = "en"
) -> AsyncIterator[Socket]:
    """Connect as a program does: the token in the header, no Origin, no cookie."""
    headers = [(b"host", b"ask.example.org"), (b"accept-language", language.encode())]
    if token is not None:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    socket = WebsocketCommunicator(
        APPLICATION, "/ws/chat/", headers=headers, subprotocols=[SUBPROTOCOL]
    )
    connected, chosen = await socket.connect()
    assert connected
    assert chosen == SUBPROTOCOL
    opened = Socket(socket)
    if after is not None:
        await opened.send({"type": "resume", "after": after})
    yield opened
    await socket.disconnect()

"""Who may open a websocket."""

from __future__ import annotations

from typing import Any

import pytest
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.testing import WebsocketCommunicator

from ieim.config.connections import StrictOriginValidator
from ieim.config.variables import LOOPBACK

# Channels looks after its threads' database connections whenever a socket opens or closes.
pytestmark = pytest.mark.django_db

SITE = ["https://ask.example.org"]


class Open(AsyncWebsocketConsumer):
    """Accepts everybody, so that only the validator can refuse."""


PATIENCE = 30.0
"""Seconds: the first socket of a run starts threads and connections, beside another run."""


async def connects(origins: list[bytes], allowed: list[str]) -> bool:
    """Whether a socket with these Origin headers gets through to the consumer."""
    application: Any = StrictOriginValidator(Open.as_asgi(), allowed)
    headers = [(b"origin", origin) for origin in origins]
    communicator = WebsocketCommunicator(application, "/ws/chat/", headers)
    connected, _code = await communicator.connect(timeout=PATIENCE)
    await communicator.disconnect(timeout=PATIENCE)
    return connected


async def test_it_takes_our_own_pages() -> None:
    assert await connects([b"https://ask.example.org"], SITE)
    assert await connects([b"https://ask.example.org:443"], SITE)


@pytest.mark.parametrize(
    "origin",
    [
        b"http://ask.example.org",
        b"https://ask.example.org:8443",
        b"ftp://ask.example.org",
        b"https://evil.example.org",
        b"https://ask.example.org.evil.org",
        b"https://sub.ask.example.org",
        b"null",
        b"",
        b"ask.example.org",
        b"https://[",
        b"https://ask.example.org:port",
        b"https://ask.example.org:99999",
        b"https://ask.example.org:0",
        b"\xff\xfe",
        b"https://[::1",
        "https://аsk.example.org".encode(),
    ],
)
async def test_it_refuses_every_other_page(origin: bytes) -> None:
    assert not await connects([origin], SITE)


async def test_it_refuses_a_socket_without_an_origin() -> None:
    assert not await connects([], SITE)


async def test_it_refuses_two_origins_when_one_is_broken() -> None:
    assert not await connects([b"https://[", b"https://ask.example.org"], SITE)


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (b"http://127.0.0.1:8000", True),
        (b"http://localhost:9999", True),
        (b"http://[::1]:8000", True),
        (b"http://evil.example.org", False),
        (b"http://127.0.0.1.evil.org", False),
    ],
)
async def test_it_takes_any_loopback_port_in_development(origin: bytes, expected: bool) -> None:
    assert await connects([origin], LOOPBACK) is expected

"""How many sockets may be open at once."""

from __future__ import annotations

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings

from conversations import routing
from tests.conversations.chat.tabs import APPLICATION, cookie_of, tab

pytestmark = pytest.mark.django_db(transaction=True)

SECRETS = [letter * 43 for letter in "abcdef"]


async def opens(peer: str, secret: str | None = None) -> WebsocketCommunicator | None:
    """Open a socket; None where it is refused."""
    headers = [(b"host", b"ask.example.org")]
    if secret is not None:
        headers.append((b"cookie", cookie_of(secret)))
    socket = WebsocketCommunicator(APPLICATION, "/ws/chat/", headers=headers)
    socket.scope["client"] = (peer, 5000)
    connected, _ = await socket.connect(timeout=10)
    return socket if connected else None


async def how_many(peers: list[str], secrets: list[str | None]) -> int:
    """How many of the sockets open, one for each peer, while the others stay open."""
    results = [await opens(peer, secret) for peer, secret in zip(peers, secrets, strict=True)]
    opened = [socket for socket in results if socket is not None]
    for socket in opened:
        await socket.disconnect(timeout=10)
    assert not routing._open
    return len(opened)


async def test_those_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_ADDRESS_SOCKETS", 3)
    assert await how_many(["192.0.2.1"] * 6, [*SECRETS]) == 3
    assert await how_many([f"192.0.2.{n}" for n in range(6)], [*SECRETS]) == 6


async def test_those_of_a_customers_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_ADDRESS_SOCKETS", 1)
    networks = [f"2001:db8:1:{n}::1" for n in range(6)]
    assert await how_many(networks, [*SECRETS]) == 4


@pytest.mark.parametrize("secret", [SECRETS[0], None])
async def test_those_of_a_session_and_those_without_one(
    monkeypatch: pytest.MonkeyPatch, secret: str | None
) -> None:
    monkeypatch.setattr(routing, "OF_A_SESSION", 2)
    assert await how_many(["192.0.2.1"] * 4, [secret] * 4) == 2


async def test_one_that_closes_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "OF_A_SESSION", 1)
    for _ in range(3):
        async with tab(SECRETS[0]):
            pass

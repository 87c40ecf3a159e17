"""The page's socket in a frame, and who may open which socket."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator

from conversations import framing
from conversations.framing import FrameIdentity
from conversations.turns import services
from conversations.turns.services import new_secret
from ieim.config.asgi import application
from ieim.config.connections import StrictOriginValidator
from tests.conversations.framing.framing import SITE, allow
from tests.fixtures import VISA

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 30.0
identified: Any = application.application_mapping["websocket"]
sockets: Any = identified.__wrapped__
OWN = "http://127.0.0.1:8000"


def socket(path: str, origin: str, *, cookie: str = "", protocol: str = "") -> Any:
    headers = [(b"origin", origin.encode()), (b"host", b"127.0.0.1:8000")]
    if cookie:
        headers.append((b"cookie", f"{framing.COOKIE}={cookie}".encode()))
    site: Any = StrictOriginValidator(sockets.application, [OWN])
    return WebsocketCommunicator(site, path, headers, [protocol] if protocol else None)


async def test_it_shows_the_conversation_that_the_frame_carries(published: None) -> None:
    identity = FrameIdentity(new_secret())
    turn, _ = await database_sync_to_async(services.receive)(session=identity.secret, text=VISA)
    for path, cookie in (
        ("/embed/ws/chat/", framing.sign(identity)),
        (f"/embed/~{framing.sign(identity)}/ws/chat/", ""),
    ):
        page = socket(f"{path}?have=nothing", OWN, cookie=cookie)
        assert (await page.connect(timeout=PATIENCE))[0]
        result = await page.receive_from(timeout=PATIENCE)
        assert str(turn.pk) in result
        assert f'href="{path.removesuffix("ws/chat/")}' in result
        assert 'href="/c/' in result
        await page.disconnect(timeout=PATIENCE)


@pytest.mark.parametrize("path", ["/embed/ws/chat/", "/ws/chat/"])
async def test_the_pages_socket_takes_our_own_pages_alone(published: None, path: str) -> None:
    await database_sync_to_async(allow)(SITE)
    cookie = framing.sign(FrameIdentity(new_secret()))
    for origin in (SITE, "https://evil.example", "null"):
        connected, _ = await socket(path, origin, cookie=cookie).connect(timeout=PATIENCE)
        assert not connected, origin
    # It speaks no subprotocol.
    result = socket(path, OWN, cookie=cookie, protocol="ieim.json.v1")
    assert not (await result.connect(timeout=PATIENCE))[0]

"""The page's socket in a frame, and who may open which socket."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator

from conversations.framing import carrying
from conversations.framing.carrying import Carried
from conversations.turns import messages
from conversations.turns.services import new_secret
from ieim.config.asgi import application
from ieim.config.server.origins import StrictOriginValidator
from tests.conversations.framing.framing import SITE, allow
from tests.fixtures import VISA

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 30.0
sockets: Any = application.application_mapping["websocket"]
OWN = "http://127.0.0.1:8000"


def socket(path: str, origin: str, *, cookie: str = "", protocol: str = "") -> Any:
    headers = [(b"origin", origin.encode()), (b"host", b"127.0.0.1:8000")]
    if cookie:
        headers.append((b"cookie", f"{carrying.COOKIE}={cookie}".encode()))
    site: Any = StrictOriginValidator(sockets.application, [OWN])
    return WebsocketCommunicator(site, path, headers, [protocol] if protocol else None)


async def test_it_shows_the_conversation_that_the_frame_carries(published: None) -> None:
    carried = Carried(new_secret())
    turn, _ = await database_sync_to_async(messages.say)(
        secret=carried.secret, text=VISA, client_id=None, personal_data=None, address=None
    )
    for path, cookie in (
        ("/embed/ws/chat/", carrying.sealed(carried)),
        (f"/embed/~{carrying.sealed(carried)}/ws/chat/", ""),
    ):
        page = socket(f"{path}?have=nothing", OWN, cookie=cookie)
        assert (await page.connect(timeout=PATIENCE))[0]
        shown = await page.receive_from(timeout=PATIENCE)
        assert str(turn.pk) in shown
        assert f'href="{path.removesuffix("ws/chat/")}' in shown
        assert 'href="/c/' in shown
        await page.disconnect(timeout=PATIENCE)


@pytest.mark.parametrize("path", ["/embed/ws/chat/", "/ws/chat/"])
async def test_the_pages_socket_takes_our_own_pages_alone(published: None, path: str) -> None:
    await database_sync_to_async(allow)(SITE)
    cookie = carrying.sealed(Carried(new_secret()))
    for origin in (SITE, "https://evil.example", "null"):
        connected, _ = await socket(path, origin, cookie=cookie).connect(timeout=PATIENCE)
        assert not connected, origin


async def test_the_json_socket_takes_the_scripts_of_the_sites_that_are_named(
    published: None,
) -> None:
    await database_sync_to_async(allow)(SITE)
    for origin, may in (
        (SITE, True),
        (OWN, True),
        ("https://evil.example", False),
        ("null", False),
    ):
        page = socket("/ws/chat/", origin, protocol="ieim.json.v1")
        assert (await page.connect(timeout=PATIENCE))[0] == may, origin
        if may:
            # It opens nothing by itself, whatever cookie comes along.
            await page.send_json_to({"type": "resume", "after": 0})
            assert (await page.receive_json_from(timeout=PATIENCE))["code"] == "unauthorised"
            await page.disconnect(timeout=PATIENCE)
    framed = socket("/embed/ws/chat/", SITE, protocol="ieim.json.v1")
    assert not (await framed.connect(timeout=PATIENCE))[0]

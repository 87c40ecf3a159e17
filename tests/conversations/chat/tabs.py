"""Open chat pages: the websocket as a browser's tab sees it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.sessions import CookieMiddleware
from channels.testing import WebsocketCommunicator
from django.http import HttpResponse

from conversations import selectors
from conversations.chat import cookies
from conversations.chat.presenters import ChatView
from conversations.models import Turn
from conversations.routing import websocket_urlpatterns
from conversations.turns import running

APPLICATION = CookieMiddleware(URLRouter(websocket_urlpatterns))


class Tab:
    """An open page: it keeps the latest fragment of each id, as htmx would."""

    def __init__(self, socket: WebsocketCommunicator) -> None:
        self.socket = socket
        self.parts: dict[str, str] = {}
        self.frames: list[str] = []
        self.said: list[str] = []

    async def send(self, frame: object) -> None:
        await self.socket.send_to(text_data=json.dumps(frame))

    async def read(self) -> str:
        html = str(await self.socket.receive_from(timeout=5))
        self.frames.append(html)
        pieces = re.split(r'(?=<\w+[^>]*? id="([^"]+)"[^>]* hx-swap-oob)', html)
        for name, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            self.parts[name] = piece
        if "status" in self.parts:
            self.said.append(re.sub("<[^>]+>", "", self.parts.pop("status")).strip())
        return html

    async def read_until(self, words: str) -> str:
        while words not in (html := await self.read()):
            pass
        return html


def cookie_of(secret: str) -> bytes:
    """The header of a browser that has the conversation of ``secret``."""
    response = HttpResponse()
    cookies.set_cookie(response, secret)
    return f"{cookies.NAME}={response.cookies[cookies.NAME].value}".encode()


@asynccontextmanager
async def tab(
    secret: str | None, *, have: str = "", language: str = "", query: str = ""
) -> AsyncIterator[Tab]:
    headers = [(b"host", b"ask.example.org")]
    if secret is not None:
        headers.append((b"cookie", cookie_of(secret)))
    address = f"/ws/chat/?have={have}&language={language}{query}"
    socket = WebsocketCommunicator(APPLICATION, address, headers=headers)
    connected, _ = await socket.connect()
    assert connected
    yield Tab(socket)
    await socket.disconnect()


@database_sync_to_async
def view(secret: str | None) -> ChatView:
    return selectors.chat_view(secret=secret)


@database_sync_to_async
def run_newest(model: Any = None) -> Turn:
    turn = Turn.objects.order_by("created_at").last()
    assert turn is not None
    running.run_turn(turn_id=turn.pk, model=model)
    return turn


@database_sync_to_async
def texts() -> list[str]:
    return list(Turn.objects.values_list("text", flat=True))

"""Websocket addresses."""

from __future__ import annotations

from typing import Any

from channels.security.websocket import WebsocketDenier
from django.urls import path

from conversations.chat.frames import SUBPROTOCOL
from conversations.chat.json_socket import JsonConsumer
from conversations.chat.socket import ChatConsumer

# Django types `path` for HTTP views only; URLRouter wants ASGI applications there.
_page: Any = ChatConsumer.as_asgi()
_json: Any = JsonConsumer.as_asgi()
_nobody: Any = WebsocketDenier.as_asgi()


async def chat(scope: Any, receive: Any, send: Any) -> Any:
    """Fragments for the page, which asks for no subprotocol; JSON for who asks for it.

    Whoever asks for other subprotocols only is refused (403): they expect something else.
    """
    wanted = scope.get("subprotocols") or []
    if SUBPROTOCOL in wanted:
        return await _json(scope, receive, send)
    return await (_nobody if wanted else _page)(scope, receive, send)


async def framed_chat(scope: Any, receive: Any, send: Any) -> Any:
    """Fragments for the page in a frame; whoever asks for a subprotocol there is refused."""
    return await (_nobody if scope.get("subprotocols") else _page)(scope, receive, send)


_chat: Any = chat
_framed: Any = framed_chat

websocket_urlpatterns: list[Any] = [
    path("ws/chat/", _chat),
    path("embed/ws/chat/", _framed),
    path("embed/~<str:token>/ws/chat/", _framed),
]

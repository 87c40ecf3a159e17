"""Websocket addresses: the page's socket, by itself and in a frame."""

from __future__ import annotations

from typing import Any

from channels.security.websocket import WebsocketDenier
from django.urls import path

from conversations.chat.socket import ChatConsumer

# Django types `path` for HTTP views only; URLRouter wants ASGI applications there.
_page: Any = ChatConsumer.as_asgi()
_refused: Any = WebsocketDenier.as_asgi()


async def chat(scope: Any, receive: Any, send: Any) -> Any:
    """Serve the page's socket; refuse (403) who asks for a subprotocol, for there is none."""
    return await (_refused if scope.get("subprotocols") else _page)(scope, receive, send)


_chat: Any = chat

websocket_urlpatterns: list[Any] = [
    path("ws/chat/", _chat),
    path("embed/ws/chat/", _chat),
    path("embed/~<str:token>/ws/chat/", _chat),
]

"""Websocket addresses: the page's socket, by itself and in a frame, and how many may be open.

A page that gets no socket goes on by its form. Sockets are counted in each process by itself: a
process is what they fill up, and a count that it holds alone ends with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.urls import path

from conversations import framing
from conversations.chat.socket import ChatConsumer
from ieim.people import addresses

OF_A_SESSION: Final = 20
"""Open sockets of one conversation: each is an open page. Those of an address that have brought no
conversation count as one."""

# Django types `path` for HTTP views only; URLRouter wants ASGI applications there.
_page: Any = ChatConsumer.as_asgi()
_refused: Any = WebsocketDenier.as_asgi()


_open: Counter[str] = Counter()


async def chat(scope: Any, receive: Any, send: Any) -> Any:
    """Serve the page's socket; refuse (403) who has too many, or asks for a subprotocol, for there
    is none."""
    caps = dict(_caps(scope))
    if scope.get("subprotocols") or any(_open[name] >= most for name, most in caps.items()):
        return await _refused(scope, receive, send)
    _open.update(caps.keys())
    try:
        return await _page(scope, receive, send)
    finally:
        for name in caps:
            _open[name] -= 1
            if not _open[name]:
                del _open[name]


def _caps(scope: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield what a socket counts for, and how many of each may be open."""
    address = addresses.of_scope(scope)
    _, secret = framing.of_socket(scope)
    yield f"session {secret}" if secret else f"without {address}", OF_A_SESSION
    if most := settings.IEIM_ADDRESS_SOCKETS:
        for name, times in addresses.counted_as(address):
            yield f"address {name}", most * times


_chat: Any = chat

websocket_urlpatterns: list[Any] = [
    path("ws/chat/", _chat),
    path("embed/ws/chat/", _chat),
    path("embed/~<str:token>/ws/chat/", _chat),
]

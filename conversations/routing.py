"""Websocket addresses."""

from __future__ import annotations

from typing import Any

from django.urls import path

from conversations.consumers import ChatConsumer

# Django types `path` for HTTP views only; URLRouter wants ASGI applications there.
chat: Any = ChatConsumer.as_asgi()

websocket_urlpatterns: list[Any] = [path("ws/chat/", chat)]

"""The origins that may open a websocket: our own pages, also those in frames."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import OriginValidator, WebsocketDenier


class StrictOriginValidator(OriginValidator):
    """Channels' validator, and a malformed Origin is refused (403) instead of raising.

    It compares scheme, host and port with the allowed origins. (``AllowedHostsOriginValidator``
    compares the host alone and lets another scheme or port of it in.)
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        """Pass the connection on, or refuse it."""
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        if all(map(_well_formed, origins)):
            return await super().__call__(scope, receive, send)
        return await WebsocketDenier()(scope, receive, send)


def _well_formed(origin: bytes) -> bool:
    try:
        parts = urlsplit(origin.decode("ascii"))
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # not ASCII, a broken IPv6 address, a port that is no number
        return False

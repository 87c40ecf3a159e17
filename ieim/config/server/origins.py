"""Who may open a websocket: browsers on our own pages, and programs with a token."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from channels.security.websocket import OriginValidator, WebsocketDenier

from conversations.chat.frames import SUBPROTOCOL
from ieim.administration import selectors as administration


class StrictOriginValidator(OriginValidator):
    """Channels' validator, and a malformed Origin is refused (403) instead of raising.

    It compares scheme, host and port with the allowed origins. (``AllowedHostsOriginValidator``
    compares the host alone and lets another scheme or port of it in.)

    A JSON socket may come without an Origin, as programs that are no browsers do, and from pages of
    the other sites that the settings name: it is opened by a token, never by a cookie, so there is
    nothing that another site could make a browser misuse. The page's socket goes by a cookie, and
    takes our own pages alone, also those in frames.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        """Pass the connection on, or refuse it."""
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        if SUBPROTOCOL in scope.get("subprotocols", ()) and await _may_bring_a_token(origins):
            application: Any = self.application
            return await application(scope, receive, send)
        if all(map(_well_formed, origins)):
            return await super().__call__(scope, receive, send)
        return await WebsocketDenier()(scope, receive, send)


async def _may_bring_a_token(origins: list[bytes]) -> bool:
    if not origins:
        return True
    allowed = (await database_sync_to_async(administration.current)()).other_sites
    return all(origin.decode("latin-1") in allowed for origin in origins)


def _well_formed(origin: bytes) -> bool:
    try:
        parts = urlsplit(origin.decode("ascii"))
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # not ASCII, a broken IPv6 address, a port that is no number
        return False

"""ASGI wrappers of every connection: an id for it, and the origins that may open a websocket."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

from channels.security.websocket import OriginValidator, WebsocketDenier
from django.conf import settings

from conversations import logged

HEADER: Final = b"x-request-id"
_ID = re.compile("[0-9a-fA-F-]{16,64}")

Application = Callable[[Any, Any, Any], Awaitable[None]]


def identify(application: Application) -> Application:
    """Return the ASGI ``application`` (HTTP or websocket) with an id for each connection.

    That is the ``X-Request-ID`` of the proxy where there is one, else made here. The answer to a
    request has it too, so that who reports a fault can name it.
    """

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        header = dict(scope["headers"]).get(HEADER, b"") if settings.IEIM_TRUSTED_PROXIES else b""
        name = header.decode("latin-1")
        request = name if _ID.fullmatch(name) else uuid.uuid4().hex
        logged.begin({"request": request})

        async def send_with_id(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (HEADER, request.encode())]}
            await send(message)

        await application(scope, receive, send_with_id)

    wrapped.__wrapped__ = application  # type: ignore[attr-defined]  # as functools.wraps does
    return wrapped


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

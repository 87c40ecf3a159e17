"""The server's connections, for an application that wants to treat one badly.

ASGI has no word for a connection that breaks. Here an application finds it as
``scope["extensions"]["ieim.connection"]``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

EXTENSION = "ieim.connection"

_LINGER_NOT = struct.pack("ii", 1, 0)


@dataclass
class Connection:
    """One connection; the server, when it ends, waits for what is under way on it."""

    transport: asyncio.Transport
    _expendable: bool = False
    _ending: bool = False

    def do_not_wait(self) -> None:
        """Let the server end without waiting for this connection."""
        self._expendable = True
        if self._ending:
            self.reset()

    def end(self) -> None:
        """Note that the server is ending."""
        self._ending = True
        if self._expendable:
            self.reset()

    def reset(self) -> None:
        """Break the connection: the other side sees a reset, not an orderly end."""
        peer = self.transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        self.transport.abort()


class OfferingProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with the connection in every scope."""

    def connection_made(  # type: ignore[override]  # as in uvicorn: HTTP comes over streams
        self, transport: asyncio.Transport
    ) -> None:
        """Take a connection."""
        super().connection_made(transport)
        self.offered = Connection(transport)
        app = self.app

        async def offering(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
            extensions = {**scope.get("extensions", {}), EXTENSION: self.offered}
            await app({**scope, "extensions": extensions}, receive, send)

        self.app = offering

    def shutdown(self) -> None:
        """End the connection, once what is under way has been answered."""
        super().shutdown()
        self.offered.end()

"""Faults of the connection: no answer comes, or none that is one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping

from ieim.llm.faults.exchange import MADE_UP, Wire

RETRY_AFTER = 30
"""Seconds that the server wants to be left alone."""

DRIP_SECONDS = 0.2
"""Between two bytes: a completion has at least 300, and no stage waits for a minute."""

Misbehave = Callable[[Wire, bytes], Awaitable[None]]
"""Takes the wire and the body that a good server would send."""


async def _never(wire: Wire, _body: bytes) -> None:
    await wire.gone()


async def _drip(wire: Wire, body: bytes) -> None:
    await wire.start(200, len(body))
    for i in range(len(body)):
        last = i + 1 == len(body)
        await wire.send(
            {"type": "http.response.body", "body": body[i : i + 1], "more_body": not last}
        )
        if last or await wire.gone(DRIP_SECONDS):
            return


async def _reset(wire: Wire, _body: bytes) -> None:
    wire.connection.reset()
    # Until the server has taken note: it must not answer in our stead.
    await wire.gone()


async def _rate_limit(wire: Wire, _body: bytes) -> None:
    wait = (b"retry-after", str(RETRY_AFTER).encode())
    await wire.respond(429, _error("rate_limit_exceeded"), wait)


async def _error_500(wire: Wire, _body: bytes) -> None:
    await wire.respond(500, _error("server_error"))


def _error(code: str) -> bytes:
    error = {"message": f"This is a {MADE_UP} error.", "type": code, "param": None, "code": code}
    return json.dumps({"error": error}).encode()


WIRE: Mapping[str, Misbehave] = {
    "timeout": _never,
    "drip": _drip,
    "rate-limit": _rate_limit,
    "error": _error_500,
    "reset": _reset,
}

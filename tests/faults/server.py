"""The offline engine's server with faults: one that is switched from one question to the next."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ieim.llm.server import App, Receive, Scope, Send
from tests.faults.spoiling import MADE_UP, Asked, spoil
from tests.faults.table import FAULTS

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


@dataclass(frozen=True, slots=True)
class Wire:
    """The connection of one request."""

    scope: Scope
    receive: Receive
    send: Send

    @property
    def connection(self) -> Connection:
        """The connection below the request."""
        extensions: Connection = self.scope["extensions"][EXTENSION]
        return extensions

    async def start(self, status: int, size: int, *headers: tuple[bytes, bytes]) -> None:
        """Send the head of a response whose body has ``size`` bytes of JSON."""
        length = (b"content-length", str(size).encode())
        content_type = (b"content-type", b"application/json")
        await self.send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [content_type, length, *headers],
            }
        )

    async def respond(self, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
        """Send a whole response."""
        await self.start(status, len(body), *headers)
        await self.send({"type": "http.response.body", "body": body})

    async def gone(self, seconds: float | None = None) -> bool:
        """Wait until the caller has gone; return whether that was so within ``seconds``.

        From now on a server that ends does not wait for this request.
        """
        self.connection.do_not_wait()
        try:
            async with asyncio.timeout(seconds):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            return False
        return True


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


async def _too_long(wire: Wire, _body: bytes) -> None:
    await wire.respond(400, _error("context_length_exceeded"))


def _error(code: str) -> bytes:
    error = {"message": f"This is a {MADE_UP} error.", "type": code, "param": None, "code": code}
    return json.dumps({"error": error}).encode()


WIRE: Mapping[str, Misbehave] = {
    "timeout": _never,
    "drip": _drip,
    "rate-limit": _rate_limit,
    "error": _error_500,
    "reset": _reset,
    "too-long": _too_long,
}


_SESSIONS = 1_000
"""Sessions whose last response_id is remembered."""


@dataclass
class Chosen:
    """The fault of the next answers, none for an empty name, and the one contract that has it."""

    fault: str = ""
    contract: str = ""


def with_faults(app: App, chosen: Chosen) -> App:
    """Return ``app``, to be served with :class:`OfferingProtocol`, with the chosen fault.

    A request that ``app`` refuses, and a contract that the fault does not apply to, get what
    ``app`` says.
    """
    memory = _Memory()

    async def faulty(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        wire = Wire(scope, receive, send)
        fault, contract = chosen.fault, chosen.contract
        question, answer = await _ask(app, wire)
        result = memory.asked(question)
        if result is None or answer.status != 200:
            await wire.respond(answer.status, answer.body)
            return
        applies = fault and result.contract in FAULTS[fault].ends
        if not applies or contract not in ("", result.contract):
            await wire.respond(200, memory.noted(result, answer.body))
        elif fault in WIRE:
            await WIRE[fault](wire, answer.body)
        else:
            await wire.respond(200, memory.noted(result, spoil(fault, result, answer.body)))

    return faulty


class _Answer:
    """Takes a response instead of the network."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    async def take(self, message: MutableMapping[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")


async def _ask(app: App, wire: Wire) -> tuple[bytes, _Answer]:
    """Return the body of the request and what ``app`` answers to it."""
    heard = bytearray()
    answer = _Answer()

    async def receive() -> MutableMapping[str, Any]:
        event = await wire.receive()
        heard.extend(event.get("body", b""))
        return event

    await app(wire.scope, receive, answer.take)
    return bytes(heard), answer


class _Memory:
    """The last response_id of each session, for the one fault that needs it."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, str] = OrderedDict()

    def asked(self, question: bytes) -> Asked | None:
        """Return the question of a request that the app has answered, None for any other."""
        try:
            payload = json.loads(json.loads(question)["messages"][2]["content"])
            contract = str(payload["contract"])
        except (ValueError, RecursionError, KeyError, IndexError, TypeError):
            return None
        return Asked(contract, payload, self._last.get(_session(payload), ""))

    def noted(self, asked: Asked, body: bytes) -> bytes:
        """Remember the response_id in ``body``, if there is one to be read; returns ``body``."""
        try:
            content = json.loads(body)["choices"][0]["message"]["content"]
            response_id = json.loads(content)["response_id"]
        except (ValueError, RecursionError, KeyError, TypeError):
            return body
        session = _session(asked.payload)
        self._last[session] = str(response_id)
        self._last.move_to_end(session)
        if len(self._last) > _SESSIONS:
            self._last.popitem(last=False)
        return body


def _session(payload: Any) -> str:
    state = payload.get("cached_state")
    return str(state.get("session_id", "")) if isinstance(state, dict) else ""

"""The wrapper that spoils a model server's answers.

    app = with_faults(offline_app(), fault="fenced", contract="agency_detect_v1")

A request can ask for a fault of its own by the headers ``X-IEIM-Fault`` and
``X-IEIM-Fault-Contract``; it then has no other.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import MutableMapping
from typing import Any

from ieim.llm.faults.content import CONTENT, Edit
from ieim.llm.faults.exchange import Asked, Said, Wire, with_answer
from ieim.llm.faults.form import FORM
from ieim.llm.faults.obey import obey
from ieim.llm.faults.table import ALL, FAULTS
from ieim.llm.faults.wire import WIRE
from ieim.llm.serving.protocol import ProtocolError
from ieim.llm.serving.server import App, Receive, Scope, Send

FAULT_HEADER = "X-IEIM-Fault"
CONTRACT_HEADER = "X-IEIM-Fault-Contract"

EDITS: dict[str, Edit] = {**CONTENT, "obey": obey}

_SESSIONS = 1_000
"""Sessions whose last response_id is remembered."""


def with_faults(app: App, *, fault: str | None = None, contract: str | None = None) -> App:
    """Return ``app`` with ``fault`` in every answer, or in those to one ``contract``.

    ``app`` has to be served by :mod:`ieim.llm.serving.server`, which knows how to reset a
    connection. A request that ``app`` refuses, and a contract that the fault does not apply to, get
    what ``app`` says. Raises ValueError for names that there are not.
    """
    _check(fault, contract)
    memory = _Memory()

    async def faulty(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        wire = Wire(scope, receive, send)
        try:
            name, limit = _wanted(scope, fault, contract)
        except ValueError as error:
            refusal = ProtocolError(400, str(error), param=FAULT_HEADER)
            await wire.respond(400, json.dumps(refusal.as_dict()).encode())
            return
        question, answer = await _ask(app, wire)
        asked = memory.asked(question)
        if asked is None or answer.status != 200:
            await wire.respond(answer.status, answer.body)
            return
        applies = name is not None and asked.contract in FAULTS[name].contracts
        if name is None or not applies or limit not in (None, asked.contract):
            await wire.respond(200, memory.noted(asked, answer.body))
        elif name in WIRE:
            await WIRE[name](wire, answer.body)
        else:
            await wire.respond(200, memory.noted(asked, spoil(name, asked, answer.body)))

    return faulty


def spoil(name: str, asked: Asked, body: bytes) -> bytes:
    """Return the chat completion ``body`` with a fault of form or content.

    An answer that was cut at its budget stays as it is: it has a fault already.
    """
    choice = json.loads(body)["choices"][0]
    if choice["finish_reason"] != "stop":
        return body
    text = choice["message"]["content"]
    if name in FORM:
        return with_answer(body, FORM[name](text))
    answer = json.loads(text)
    EDITS[name](answer, asked)
    return with_answer(body, Said(json.dumps(answer)))


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


def _wanted(scope: Scope, fault: str | None, contract: str | None) -> tuple[str | None, str | None]:
    """Return the fault and the contract that a request is to have."""
    headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
    if FAULT_HEADER.lower() not in headers:
        if CONTRACT_HEADER.lower() in headers:
            raise ValueError(f"{CONTRACT_HEADER} says where a fault is: name it by {FAULT_HEADER}.")
        return fault, contract
    name = headers[FAULT_HEADER.lower()].decode("latin-1").strip()
    limit = headers.get(CONTRACT_HEADER.lower(), b"").decode("latin-1").strip() or None
    _check(name, limit)
    return name, limit


def _check(fault: str | None, contract: str | None) -> None:
    if fault is not None and fault not in FAULTS:
        raise ValueError(f"There is no fault {fault!r}; there are {', '.join(FAULTS)}.")
    if contract is not None and contract not in ALL:
        raise ValueError(f"There is no contract {contract!r}; there are {', '.join(ALL)}.")

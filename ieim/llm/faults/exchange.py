"""What a fault has to work with: the question, the answer that it spoils, and the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ieim.llm.serving.connection import EXTENSION, Connection
from ieim.llm.serving.server import Receive, Scope, Send

MADE_UP = "made-up"
"""Stands in every text that a fault invents, so that it can be told wherever it turns up."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its contract, the per-call JSON, and the response_id that the session's answer
    before this one had (empty when there was none)."""

    contract: str
    payload: Mapping[str, Any]
    last_response_id: str


@dataclass(frozen=True, slots=True)
class Said:
    """An answer's content, which may hold bytes that are not UTF-8 (``surrogateescape``)."""

    text: str
    finish_reason: str = "stop"
    refusal: str | None = None


def with_answer(body: bytes, said: Said) -> bytes:
    """Return the chat completion ``body`` with another answer in it."""
    completion = json.loads(body)
    choice = completion["choices"][0]
    choice["message"]["content"] = None if said.refusal else said.text
    choice["message"]["refusal"] = said.refusal
    choice["finish_reason"] = said.finish_reason
    return json.dumps(completion, ensure_ascii=False).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Wire:
    """The connection of one request."""

    scope: Scope
    receive: Receive
    send: Send

    @property
    def connection(self) -> Connection:
        """The connection below the request."""
        found: Connection = self.scope["extensions"][EXTENSION]
        return found

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

"""A model server that can be spoilt from one question to the next, and the real client to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ieim.llm.faults.app import CONTRACT_HEADER, FAULT_HEADER, with_faults
from ieim.llm.openai_client import OpenAIModel
from ieim.llm.serving.server import Receive, Scope, Send, offline_app, running_server
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from tests.llm.requested import client

SOON = 0.2
"""Seconds after which a caller gives up who meets a fault that takes time."""

SLOW = frozenset({"timeout", "drip"})


@dataclass
class Spoiled:
    """The model port over a socket; ``calls`` are the contracts that were asked, in order."""

    client: OpenAIModel
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    hurried: str = ""
    calls: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.client.name

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.calls.append(request.contract)
        seconds = SOON if request.contract == self.hurried else deadline
        return self.client.complete(request, deadline=seconds)

    @contextmanager
    def having(self, fault: str, contract: str) -> Iterator[None]:
        """Let every answer to ``contract`` have ``fault``; ``calls`` starts anew."""
        self.headers[:] = [
            (FAULT_HEADER.lower().encode(), fault.encode()),
            (CONTRACT_HEADER.lower().encode(), contract.encode()),
        ]
        self.hurried = contract if fault in SLOW else ""
        self.calls.clear()
        try:
            yield
        finally:
            self.headers.clear()
            self.hurried = ""


@contextmanager
def spoiled_model() -> Iterator[Spoiled]:
    """Serve the offline engine with its faults, which the headers of each request choose."""
    headers: list[tuple[bytes, bytes]] = []
    app = with_faults(offline_app())

    async def steered(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "headers": [*scope["headers"], *headers]}, receive, send)

    with running_server(steered) as base_url:
        yield Spoiled(client(base_url), headers)

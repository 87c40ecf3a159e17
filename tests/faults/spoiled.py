"""A model server that can be spoilt from one question to the next, and the real client to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ieim.llm.openai_client import OpenAIModel
from ieim.llm.server import offline_app, running_server
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from tests.faults.server import Chosen, OfferingProtocol, with_faults
from tests.llm.requested import client

SOON = 0.2
"""Seconds after which a caller gives up who meets a fault that takes time."""

SLOW = frozenset({"timeout", "drip"})


@dataclass
class Spoiled:
    """The model port over a socket; ``calls`` are the contracts that were asked, in order."""

    client: OpenAIModel
    chosen: Chosen
    calls: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.client.name

    @property
    def reads(self) -> bool:
        return self.client.reads

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.calls.append(request.contract)
        slow = self.chosen.fault in SLOW and request.contract == self.chosen.contract
        return self.client.complete(request, deadline=SOON if slow else deadline)

    @contextmanager
    def having(self, fault: str, contract: str) -> Iterator[None]:
        """Let every answer to ``contract`` have ``fault``; ``calls`` starts anew."""
        self.chosen.fault, self.chosen.contract = fault, contract
        self.calls.clear()
        try:
            yield
        finally:
            self.chosen.fault = self.chosen.contract = ""


@contextmanager
def spoiled_model() -> Iterator[Spoiled]:
    """Serve the offline engine with its faults, which :meth:`Spoiled.having` chooses."""
    chosen = Chosen()
    app = with_faults(offline_app(), chosen)
    with running_server(app, http=OfferingProtocol) as base_url:
        yield Spoiled(client(base_url), chosen)

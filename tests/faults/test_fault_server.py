"""The switchable faults themselves: how they are asked for, and what they leave alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ieim.llm.offline import OfflineModel
from ieim.llm.server import offline_app, running_server
from ieim.pipeline import contract as contracts
from ieim.pipeline import request as requests
from ieim.pipeline.ports import ModelAnswer, ModelRequest, Query
from ieim.pipeline.stages.base import Context, Inputs
from ieim.search import index_for
from tests.faults.server import WIRE, Chosen, OfferingProtocol, with_faults
from tests.faults.spoiled import Spoiled, spoiled_model
from tests.faults.spoiling import EDITS, FORM
from tests.faults.table import ALL, FAULTS, TRIAGE, refreshed
from tests.llm.offline.turns import ROOT, ask, release
from tests.pipeline.build import TODAY

PAGE = Path(ROOT) / "docs" / "faults.md"


@pytest.fixture(scope="module")
def model() -> Iterator[Spoiled]:
    with spoiled_model() as spoiled:
        yield spoiled


class Recorder(OfflineModel):
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.requests: dict[str, ModelRequest] = {}

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.requests[request.contract] = request
        return super().complete(request, deadline=deadline)


@cache
def asked() -> dict[str, ModelRequest]:
    """Return a request of every contract, as the pipeline builds it."""
    recorder = Recorder()
    text = "I want to extend my tourist visa"
    ask(text, model=recorder)
    ask("We had a baby. How do we register the birth and claim child benefit?", model=recorder)
    inputs = Inputs(
        text=text,
        query=Query(text),
        today=TODAY,
        history=(),
        context=Context(1, text, {}, release()),
        shortlist=index_for(release()),
        limits={},
    )
    for name in TRIAGE:
        recorder.requests[name] = requests.build(
            contracts.load(name), inputs, request_id="r", temperature=0.0, max_output_tokens=2048
        )
    return recorder.requests


def post(base_url: str, *, contract: str = "judgement_v1") -> httpx2.Response:
    messages = [{"role": m.role, "content": m.content} for m in asked()[contract].messages]
    return httpx2.post(
        f"{base_url}/chat/completions",
        json={"model": "ieim-offline", "messages": messages},
        trust_env=False,
    )


def said(response: httpx2.Response) -> Any:
    assert response.status_code == 200
    return response.json()["choices"][0]["message"]["content"]


def test_it_does_something_for_every_fault_of_the_table() -> None:
    assert sorted([*WIRE, *FORM, *EDITS]) == sorted(FAULTS)
    assert all(set(fault.ends) <= set(ALL) for fault in FAULTS.values())


def test_it_leaves_alone_every_contract_that_a_fault_does_not_apply_to(model: Spoiled) -> None:
    assert set(asked()) == set(ALL)
    for contract, question in asked().items():
        clean = OfflineModel().complete(question, deadline=5).raw
        for name, fault in FAULTS.items():
            if contract not in fault.ends:
                with model.having(name, contract):
                    assert model.complete(question, deadline=5).raw == clean, (name, contract)


def test_it_resets_the_connection_and_takes_the_next() -> None:
    chosen = Chosen("reset")
    app = with_faults(offline_app(), chosen)
    with running_server(app, http=OfferingProtocol) as base_url:
        with pytest.raises(httpx2.ReadError) as caught:
            post(base_url)
        assert "reset" in str(caught.value).casefold()
        chosen.fault = ""
        assert json.loads(said(post(base_url)))["stage"] == "judgement_v1"


def test_its_page_is_not_stale() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert refreshed(page) == page, "run python docs/build_faults.py"

"""Speculative calls that are discarded are stored, audited and counted."""

from __future__ import annotations

import json
import threading
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings

from conversations.models import Attempt, Turn, Unused
from conversations.record.replay import replay
from conversations.turns import moves, services
from conversations.turns.leases import take_lease
from conversations.turns.store import TurnStore
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.llm.capabilities import Capabilities
from ieim.llm.openai_client import OpenAIModel
from ieim.pipeline.budget import Budget, Count, Spent
from ieim.pipeline.ports import Message, ModelRequest, ModelUnavailable
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.services import free_port

NOT_AN_INQUIRY: dict[str, Any] = {
    "stage": "judgement_v1",
    "stageStatus": "ready",
    "judgements": {"inquiry": False},
    "assistantReply": "What would you like to know?",
    "nextStep": "session_end",
    "telemetry": {"notes": None},
}


@pytest.fixture(autouse=True)
def _ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.IEIM_MODEL, "AHEAD", True)


def test_a_turn_is_answered_as_without_it_and_can_be_replayed(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    assert len(server.asked) == len(set(server.asked)) == 5
    assert replay(turn).same
    assert not Unused.objects.exists()


def test_what_was_in_vain_is_audited_and_counts_against_the_budgets(ask: Ask) -> None:
    with scripted_model({"judgement_v1": [NOT_AN_INQUIRY]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "answered"
    unused = {result.contract: result for result in Unused.objects.all()}
    assert unused.keys() == {"agency_detect_v1", "category_select_v1"}
    assert TurnStore(turn, count_day=True).spent() == (
        type(TurnStore(turn).spent())(*[15 + sum(result.tokens for result in unused.values())] * 2)
    )
    events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.unused")
    documents = [json.loads(event.payload) for event in events]
    assert {result["stage"]: result["tokens"] for result in documents} == {
        contract: result.tokens for contract, result in unused.items()
    }
    assert not turn.stages.exclude(contract="judgement_v1").exists()


def check_free(turn: Turn) -> None:
    """The turn waits, each call to its server is audited, and nothing was spent."""
    assert turn.state == "awaiting_model"
    assert not Attempt.objects.exists()
    assert not Unused.objects.exists()
    assert (TurnStore(turn, count_day=True).spent()) == Spent()
    events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.unanswered")
    stages = {json.loads(event.payload)["stage"] for event in events}
    assert stages == {"judgement_v1", "agency_detect_v1", "category_select_v1"}


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_calls_that_the_server_refuses_cost_nothing(ask: Ask, status: int) -> None:
    refused = [status] * 3
    stages = ("judgement_v1", "agency_detect_v1", "category_select_v1")
    with scripted_model(dict.fromkeys(stages, refused)) as (model, _):
        check_free(ask(VISA, model=model))


def test_calls_of_a_server_that_is_not_there_cost_nothing(ask: Ask) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    check_free(
        ask(VISA, model=OpenAIModel(nowhere, "", "x", capabilities=Capabilities(), overrides={}))
    )


def test_calls_that_time_out_cost_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.IEIM_MODEL, "DEADLINE", 0.3)
    never = threading.Event()
    stages = ("judgement_v1", "agency_detect_v1", "category_select_v1")
    with scripted_model({stage: [never] * 3 for stage in stages}) as (model, _):
        turn = ask(VISA, model=model)
        never.set()
    check_free(turn)


def test_a_call_that_may_still_be_answered_counts_its_input(ask: Ask) -> None:
    never = threading.Event()
    script: dict[str, list[Any]] = {
        "judgement_v1": [NOT_AN_INQUIRY],
        "category_select_v1": [never],
    }
    with scripted_model(script) as (model, _):
        turn = ask(VISA, model=model)
        never.set()
    assert turn.state == "answered"
    abandoned = Unused.objects.get(contract="category_select_v1")
    assert abandoned.prompt_tokens is None
    assert abandoned.tokens > 1000


def test_failed_calls_of_the_past_cost_nothing_any_more(published: None) -> None:
    """They were stored with the most that they can cost, like those that were not waited for."""
    turn = services.receive(session="s", text=VISA, enqueue=False)[0]
    message = Message("user", "{}")
    request = ModelRequest("judgement_v1", 1, (message, message, message), 0.0, 10)
    for code in ("", "pipeline.error", "model.unavailable"):
        Turn.objects.filter(pk=turn.pk).update(state="queued")
        claimed = take_lease(turn_id=turn.pk)
        assert claimed is not None
        store = TurnStore(claimed)
        store.discarded(request, None, Count(5000, 10, Budget(), Spent()), 0.1)
        if code:
            moves.give_to_person(turn=claimed, stage="reply", codes=[code])
        else:
            moves.await_model(turn=claimed, error=ModelUnavailable("down"))
    migration = import_module("conversations.migrations.0009_failed_calls_cost_nothing")
    migration.free(apps, None)
    assert list(Unused.objects.values_list("tokens", flat=True)) == [0, 5010, 0]
    assert verify(turn.session_id).ok

"""An outage is begun once and ended once, whatever number of turns and processes see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import Attempt, Outage, Turn
from conversations.outages import selectors, services
from conversations.turns import running
from conversations.turns.services import new_secret, receive
from ieim.llm.capabilities import Capabilities
from ieim.llm.factory import FAILURES, BreakerModel
from ieim.llm.openai_client import OpenAIModel
from ieim.pipeline.ports import Model, ModelUnavailable
from tests.fixtures import VISA, Ask
from tests.model_server import ScriptedServer, client_of, scripted_model, served
from tests.services import free_port

pytestmark = pytest.mark.both_databases

FLOW = ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]


def again(turn: Turn, model: Model) -> Turn:
    """Try a turn again that waits."""
    Turn.objects.filter(pk=turn.pk).update(retry_at=timezone.now())
    running.run_turn(turn_id=turn.pk, model=model)
    turn.refresh_from_db()
    return turn


def test_two_turns_that_wait_are_one_outage_and_the_first_answer_ends_it(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        server.down = True
        first, second = ask(VISA, model=model), ask(VISA, model=model)
        outage = Outage.objects.get()
        assert (outage.cause, outage.status, outage.ended_at) == ("server", 503, None)
        assert outage.seen_at > outage.began_at
        view = selectors.current()
        assert view is not None
        assert view.waiting == 2
        assert view.why == "The model server fails. HTTP status 503."
        server.down = False
        assert again(first, model).state == "answered"
        assert selectors.current() is None
        assert again(second, model).state == "answered"
    assert Outage.objects.count() == 1


@pytest.mark.parametrize(
    ("status", "cause"),
    [(401, "key"), (403, "key"), (404, "name"), (400, "request"), (429, "limit"), (500, "server")],
)
def test_it_says_what_the_server_said(ask: Ask, status: int, cause: str) -> None:
    with scripted_model({"judgement_v1": [status] * 3}) as (model, _):
        ask(VISA, model=model)
    outage = Outage.objects.get()
    assert (outage.cause, outage.status) == (cause, status)
    assert f"HTTP status {status}." in selectors.why(outage)


def test_a_message_that_the_server_does_not_take_is_no_outage(ask: Ask) -> None:
    """A person gets it at once, and others are answered."""

    def answer(body: Mapping[str, Any]) -> tuple[int, str]:
        is_refused = "kangaroo" in str(body["messages"])
        return (400, "") if is_refused else engine.answer(body)

    engine = ScriptedServer({})
    with served(answer) as base_url:
        model = BreakerModel(client_of(base_url), clock=time.monotonic)
        refused = ask("How do I renew my kangaroo passport?", model=model)
        assert (refused.state, Outage.objects.count()) == ("needs_review", 0)
        attempts = Attempt.objects.filter(stage__turn=refused, stage__contract="judgement_v1")
        assert [attempt.findings[0]["code"] for attempt in attempts] == ["model.rejected"] * 2
        assert ask(VISA, model=model).state == "answered"
        turns = [ask("A kangaroo visa, please", model=model) for _ in range(FAILURES)]
    assert [turn.state for turn in turns[:-1]] == ["needs_review"] * (FAILURES - 1)
    assert turns[-1].state == "awaiting_model"
    assert Outage.objects.get().cause == "request"


def test_it_says_that_nobody_is_there(ask: Ask) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    ask(VISA, model=OpenAIModel(nowhere, "", "x", capabilities=Capabilities(), overrides={}))
    outage = Outage.objects.get()
    assert (outage.cause, outage.status) == ("connection", None)
    assert selectors.why(outage) == "There is no connection to the model server."


def test_it_lasts_while_a_stage_that_turns_need_gets_no_answer(ask: Ask) -> None:
    """Another turn, which does not need that stage, proves nothing."""
    with scripted_model({}) as (model, server):
        server.down = {"service_select_v1"}
        waits = ask(VISA, model=model)
        assert ask("hello", model=model).state == "answered"
        assert selectors.current() is not None
        server.down = False
        again(waits, model)
        assert selectors.current() is None


def test_it_lasts_when_people_have_all_turns_and_the_model_was_not_heard(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        server.down = True
        turn = ask(VISA, model=model)
        Turn.objects.filter(pk=turn.pk).update(
            unavailable_since=timezone.now() - timedelta(minutes=31)
        )
        assert again(turn, model).state == "needs_review"
        outage = selectors.current()
        assert outage is not None
        assert outage.waiting == 0
        server.down = False
        assert ask(VISA, model=model).state == "answered"
        assert selectors.current() is None


def test_one_that_begins_again_at_once_is_the_same(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        for ended in (timedelta(0), services.LASTING, timedelta(0)):
            server.down = True
            turn = ask(VISA, model=model)
            server.down = False
            again(turn, model)
            Outage.objects.update(ended_at=timezone.now() - ended)
    assert Outage.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_many_that_begin_one_at_once_begin_one(
    published: None, in_threads: Callable[[list[Callable[[], None]]], list[None]]
) -> None:
    down = ModelUnavailable("down", status=503)
    in_threads([lambda: services.note_failure(down)] * 4)
    assert Outage.objects.count() == 1


def test_a_run_that_asks_nothing_ends_none(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_arguments: object) -> None:
        raise RuntimeError("after the last stage")

    turn = receive(session=new_secret(), text=VISA, enqueue=False)[0]
    with scripted_model({}) as (model, server), monkeypatch.context() as broken:
        broken.setattr(running, "leave", fails)
        running.run_turn(turn_id=turn.pk, model=model)
        calls = len(server.asked)
        broken.undo()
        services.note_failure(ModelUnavailable("down", status=503))
        assert again(turn, model).state == "answered"
        assert len(server.asked) == calls
    assert selectors.current() is not None

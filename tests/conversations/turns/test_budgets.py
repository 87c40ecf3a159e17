"""Token budgets of stored conversations: what is counted, what is audited, who gets the turn."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from conversations.models import Attempt, Turn
from conversations.record.calls import tokens_per_byte
from conversations.turns.store import TurnStore
from ieim.audit.models import AuditEvent
from ieim.llm.offline import OfflineModel
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from review.models import ReviewItem
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

USED_A_CALL = 15  # what the scripted server says: 10 in, 5 out


def allow(settings: Settings, **budget: int | None) -> None:
    base = {"input": None, "session": None, "day": None}
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "BUDGET": {**base, **budget}}


class Silent:
    """A server that counts no tokens."""

    name = "silent"
    reads = False

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        return ModelAnswer(OfflineModel().complete(request, deadline=deadline).raw)


def test_it_counts_what_the_server_says(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        turn = ask(VISA, secret="a", model=model)
        ask(VISA, secret="b", model=model)
    spent = TurnStore(turn, count_day=True).spent()
    assert spent.day == USED_A_CALL * len(server.answered)
    assert spent.session == spent.day / 2
    assert TurnStore(turn).spent().day == 0


def test_it_counts_the_bound_where_a_server_says_nothing(ask: Ask) -> None:
    turn = ask(VISA, model=Silent())
    for attempt in Attempt.objects.filter(stage__turn=turn):
        assert attempt.tokens > attempt.request_bytes + len(bytes(attempt.raw))


@pytest.mark.parametrize(
    ("limit", "code"),
    [("session", "budget.session"), ("day", "budget.day"), ("input", "budget.input")],
)
def test_it_leaves_an_overrun_to_a_person(
    ask: Ask, settings: Settings, limit: str, code: str
) -> None:
    allow(settings, **{limit: 100})
    with scripted_model({}) as (model, server):
        turn = ask(VISA, model=model)
    assert server.asked == []
    assert turn.state == "needs_review"
    item = ReviewItem.objects.get(stage="judgement_v1")
    assert item.reasons == [code]
    assert [f["code"] for f in turn.stages.get(contract="judgement_v1").findings] == [code]
    events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.over_budget")
    assert {json.loads(event.payload)["budget"][f"{limit}_limit"] for event in events} == {100}


def test_it_audits_the_count_of_every_attempt(ask: Ask) -> None:
    turn: Turn = ask(VISA)
    events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.attempt").order_by("seq")
    counts = [json.loads(event.payload)["budget"] for event in events]
    assert len(counts) == 5
    assert all(count["input_bound"] <= count["input_limit"] for count in counts)
    spent = [count["session_spent"] for count in counts]
    # Those that are asked at once have spent the same before them, and end in any order.
    assert spent[0] == 0
    assert max(spent) == spent[-1]
    assert len(set(spent)) >= 4


def test_it_counts_tokens_once_the_server_has_counted_ten_calls(
    ask: Ask, settings: Settings
) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "BASE_URL": "http://127.0.0.1:1/v1"}

    def counted(secret: str) -> list[dict[str, int]]:
        turn = ask(VISA, secret=secret, model=model)
        events = AuditEvent.objects.filter(chain=turn.session_id, kind="stage.attempt")
        return [json.loads(event.payload)["budget"] for event in events.order_by("seq")]

    with scripted_model({}) as (model, _):
        before = [entry for secret in "ab" for entry in counted(secret)]
        payloads = counted("c")
    assert len(before) == 10
    assert all(entry["input_bound"] == entry["input_bytes"] for entry in before)
    # What the scripted server counts is far below a token a byte.
    assert all(entry["input_bound"] < entry["input_bytes"] / 100 for entry in payloads)


def test_a_turn_that_is_resumed_counts_as_it_began(ask: Ask) -> None:
    with scripted_model({}) as (model, _):
        turn = ask(VISA, secret="a", model=model)
        began = turn.created_at
        ask(VISA, secret="b", model=model)
    assert tokens_per_byte(began) == {}
    assert set(tokens_per_byte(timezone.now())) == set(
        turn.stages.values_list("contract", flat=True)
    )


def test_it_looks_at_the_latest_calls_alone(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ieim.pipeline.budget.LEAST_COUNTED", 1)
    with scripted_model({}) as (model, _):
        ask(VISA, secret="a", model=model)
    latest = ask(VISA, secret="b", model=Silent())
    assert tokens_per_byte(timezone.now())
    calls = Attempt.objects.filter(stage__turn=latest).count()
    monkeypatch.setattr("conversations.record.calls.COUNTED_CALLS", calls)
    assert tokens_per_byte(timezone.now()) == {}

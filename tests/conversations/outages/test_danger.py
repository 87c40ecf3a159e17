"""While the model is away, a message that shows danger is seen by a person at once."""

from __future__ import annotations

import pytest

from conversations import selectors
from conversations.models import Turn
from conversations.turns import running
from conversations.turns.services import new_secret, receive
from review.models import CRISIS, SIGN, Action, ReviewItem
from tests.conversations.outages.test_outages import again
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

DANGER = "My son is unconscious and does not breathe. What does an ambulance cost?"


def test_danger_comes_to_a_person_at_once_and_an_ordinary_question_waits(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        server.down = True
        danger, ordinary = ask(DANGER, model=model), ask(VISA, model=model)
    assert (danger.state, ordinary.state) == ("needs_review", "awaiting_model")
    item = ReviewItem.objects.get()
    assert (item.turn_id, item.stage, item.rank) == (danger.pk, "reply", CRISIS)
    assert set(item.reasons) == {"policy.risk", "model.unavailable"}
    eva = desk.person("eva")
    text = "Call 112 now and stay with him."
    decision = desk.taken_and_decided(item, eva, Action.WRITE, text=text, sources=[])
    assert decision.action == Action.WRITE


def test_danger_comes_to_a_person_while_the_model_is_switched_off(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_model({}) as (model, _):
        turn = ask(DANGER, model=running.SwitchedOffModel(model))
    assert turn.state == "needs_review"
    assert ReviewItem.objects.get().rank == CRISIS


def test_a_weak_sign_is_shown_at_once_and_its_turn_waits_for_the_model(published: None) -> None:
    turn = receive(session=new_secret(), text=VISA, enqueue=False)[0]
    sign = {"code": "self_harm", "start": 0, "end": 6, "source": "hint"}
    Turn.objects.filter(pk=turn.pk).update(risks=[sign])
    with scripted_model({}) as (model, server):
        server.down = True
        turn = again(turn, model)
        assert turn.state == "awaiting_model"
        item = ReviewItem.objects.get()
        assert (item.stage, item.rank, item.reasons) == ("reply", SIGN, ["citizen.danger"])
        server.down = False
        assert again(turn, model).state == "answered"
    assert ReviewItem.objects.get() == item
    assert selectors.turn_view(turn.pk).contacts

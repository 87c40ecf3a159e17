"""What a person's decision does to a turn, and that a turn which waits for nobody is left alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from conversations import sweeper
from conversations.models import Reply, Turn
from conversations.record.replay import replay
from conversations.states import IllegalTransition, StageStatus
from conversations.turns import resuming, running
from conversations.turns.resuming import NotWaiting
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.reply.cards import Source
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

BAD = ["no json", "```{}```"]
BY = "staff:eva"
SAID = replies.render_guidance("Please write to us.")


@pytest.fixture
def stopped(ask: Ask) -> Turn:
    """A turn that failed closed when it looked for a topic."""
    with scripted_model({"category_select_v1": BAD}) as (model, _):
        return ask(VISA, model=model)


def test_it_leaves_a_resumed_turn_to_any_worker(
    stopped: Turn, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.append(args[0]))
    resuming.ask_again(stage=stopped.stages.get(contract="category_select_v1"))
    with django_capture_on_commit_callbacks(execute=True):
        resuming.resume(turn=stopped)
    assert sent == [str(stopped.pk)]
    turn = Turn.objects.get(pk=stopped.pk)
    assert (turn.state, turn.lease, turn.resumed) == ("running", None, True)
    running.run_turn(turn_id=turn.pk)
    turn = Turn.objects.get(pk=turn.pk)
    assert turn.state == "answered"
    assert replay(turn).same


def test_it_is_found_by_the_sweeper_where_the_broker_forgot(stopped: Turn) -> None:
    resuming.resume(turn=stopped)
    sweeper.sweep(now=timezone.now() + timedelta(seconds=1))
    assert Turn.objects.get(pk=stopped.pk).state == "queued"


def test_it_does_not_wait_for_the_models_day_again(stopped: Turn) -> None:
    Turn.objects.filter(pk=stopped.pk).update(unavailable_since=timezone.now(), runs=4)
    resuming.resume(turn=stopped)
    turn = Turn.objects.get(pk=stopped.pk)
    assert (turn.unavailable_since, turn.runs) == (None, 0)


@pytest.mark.parametrize(
    "write",
    [
        lambda turn: resuming.resume(turn=turn),
        lambda turn: resuming.answer(turn=turn, reply=SAID, by=BY),
        lambda turn: resuming.close(turn=turn, reply=None, by=BY),
        lambda turn: resuming.reopen(turn=turn, stage="reply", codes=[], by=BY),
    ],
)
def test_it_leaves_an_answered_turn_alone(ask: Ask, write: Callable[[Turn], object]) -> None:
    turn = ask(VISA)
    before = Turn.objects.values().get(pk=turn.pk)
    with pytest.raises(NotWaiting):
        write(turn)
    assert Turn.objects.values().get(pk=turn.pk) == before
    assert Reply.objects.count() == 1


def test_it_puts_no_answer_in_the_place_of_one_that_runs(stopped: Turn) -> None:
    stage = stopped.stages.get(contract="category_select_v1")
    with pytest.raises(IllegalTransition):
        resuming.put_answer(stage=stage, status=StageStatus.PASSED, output={}, state_merge={})


def test_it_marks_the_words_that_led_to_a_staff_answer(stopped: Turn) -> None:
    source = Source(
        "immigration", "Immigration", "immigration.extend-tourist-visa", "Extend a visa", ""
    )
    reply = replies.Reply("answer", "", "", ("Come to us.",), (), (source,))
    stored = resuming.answer(turn=stopped, reply=reply, by=BY)
    assert "visa" in {VISA[start:end] for start, end in stored.marked}
    assert stored.origin == "staff"


def test_it_can_be_replayed_when_staff_answered(stopped: Turn) -> None:
    resuming.answer(turn=stopped, reply=SAID, by=BY)
    assert replay(Turn.objects.get(pk=stopped.pk)).same


def test_it_reopens_nothing_of_which_the_citizen_was_told(stopped: Turn) -> None:
    resuming.close(turn=stopped, reply=SAID, by=BY)
    with pytest.raises(NotWaiting, match="told"):
        resuming.reopen(turn=stopped, stage="reply", codes=[], by=BY)

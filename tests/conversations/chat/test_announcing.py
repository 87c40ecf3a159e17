"""What a screen reader hears of a question, on every way that it can take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from conversations import selectors
from conversations.chat.announcing import announcement, turns_without_alert
from conversations.chat.presenters import ChatView
from conversations.models import Turn
from conversations.reactions import rate
from conversations.turns import executor, moves, running, services
from conversations.turns.choosing import choose, expire
from conversations.turns.models import Choice
from ieim.people.models import User
from review.models import Action
from tests.conversations.turns.triage.test_triage import classified, flag
from tests.fixtures import VISA
from tests.model_server import scripted_model
from tests.review import desk
from tests.selection import sample

SECRET = "a"
WIDE = "passport"
DANGER = f"{VISA}, if not I will kill myself"
BAD = ["no json", "no json"]

RECEIVED = "Question 1: We have your question."
ASKED = "Question 1: The assistant asks you to choose."
HELD = "Question 1: A person will answer your question."
READY = "Question 1: Your answer is ready."
HELP = "Question 1: Please get help now"


class Listener:
    """Somebody who hears an open page that misses nothing: it looks at every change."""

    def __init__(self, *, slow: bool) -> None:
        self.slow = slow
        self.said: list[str] = []
        self.helped = ""
        self.shown: ChatView = selectors.chat_view(secret=SECRET)

    def look(self, turn: Turn | None = None) -> None:
        before, now = self.shown, selectors.chat_view(secret=SECRET)
        if now == before:
            return
        self.shown = now
        without_alert = turns_without_alert(before.turns, now.turns)
        for result in now.turns:
            html = render_to_string(
                "conversations/reply/_parts.html#contacts",
                {"turn": result, "without_alert": without_alert},
            )
            if 'role="alert"' in html:
                self.helped = html
                self.said.append(result.with_number("Please get help now"))
        if words := announcement(before.turns, now.turns):
            self.said.append(words)
        if self.slow and turn is not None and turn.state == "running":
            executor.note_delay(turn_id=turn.pk)


@pytest.fixture(params=[False, True], ids=["fast", "slow"])
def page(
    request: pytest.FixtureRequest, published: None, monkeypatch: pytest.MonkeyPatch
) -> Listener:
    listener = Listener(slow=request.param)
    monkeypatch.setattr("conversations.turns.moves.notify_pages", listener.look)
    return listener


@pytest.fixture
def eva(db: None) -> User:
    return desk.person("eva", *desk.ALL)


def ask_turn(text: str, says: dict[str, Any] | None = None) -> Turn:
    turn = services.receive(session=SECRET, text=text, enqueue=False)[0]
    return ran(turn, says)


def ran(turn: Turn, says: dict[str, Any] | None = None) -> Turn:
    with scripted_model(says or {}) as (model, _):
        running.run_turn(turn_id=turn.pk, model=model)
    return Turn.objects.get(pk=turn.pk)


def answered(turn: Turn, eva: User) -> None:
    """A person answers later."""
    assert turn.state == "needs_review"
    item = desk.the_item(turn)
    desk.taken_and_decided(item, eva, Action.WRITE, text="Please call us.")
    if Turn.objects.get(pk=turn.pk).state == "needs_review":  # in danger two have to agree
        desk.taken_and_decided(item, desk.person("bob", *desk.ALL), Action.AGREE)
    assert Turn.objects.get(pk=turn.pk).state == "answered"


def picked(turn: Turn, number: int | None, says: dict[str, Any] | None = None) -> Turn:
    assert turn.state == "asking"
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[] if number is None else [number])
    return ran(turn, says)


def none_in_time(turn: Turn) -> Turn:
    expire(now=Choice.objects.get().until)
    return Turn.objects.get(pk=turn.pk)


def waited(turn: Turn) -> Turn:
    """The model was away until somebody else had to have it."""
    assert turn.state == "awaiting_model"
    long_ago = timezone.now() - moves.GIVE_UP_ON_MODEL
    Turn.objects.filter(pk=turn.pk).update(retry_at=long_ago, unavailable_since=long_ago)
    return ran(turn, {"judgement_v1": [503] * 3})


def tried_again(turn: Turn, eva: User) -> Turn:
    """A person lets the model try again, and it stops once more."""
    desk.taken_and_decided(desk.the_item(turn), eva, Action.RETRY)
    return ran(turn, {"agency_detect_v1": BAD})


def flagged() -> dict[str, Any]:
    return {"classify": [classified(VISA, risk_flags=[flag("violence", "tourist visa")])]}


WAYS: dict[str, tuple[Callable[[User], object], list[str]]] = {
    "answered": (lambda _: ask_turn(VISA), [RECEIVED, READY]),
    "held, answered later": (
        lambda eva: answered(ask_turn(VISA, {"agency_detect_v1": BAD}), eva),
        [RECEIVED, HELD, READY],
    ),
    "held, tried again, held, answered later": (
        lambda eva: answered(tried_again(ask_turn(VISA, {"agency_detect_v1": BAD}), eva), eva),
        [RECEIVED, HELD, READY],
    ),
    "asked back, chosen": (lambda _: picked(ask_turn(WIDE), 1), [RECEIVED, ASKED, READY]),
    "asked back, none of these, answered later": (
        lambda eva: answered(picked(ask_turn(WIDE), None), eva),
        [RECEIVED, ASKED, READY],
    ),
    "asked back, not chosen, answered later": (
        lambda eva: answered(none_in_time(ask_turn(WIDE)), eva),
        [RECEIVED, ASKED, READY],
    ),
    "no model, held, answered later": (
        lambda eva: answered(waited(ask_turn(VISA, {"judgement_v1": [503] * 3})), eva),
        [RECEIVED, HELD, READY],
    ),
    "danger, held, answered later": (
        lambda eva: answered(ask_turn(DANGER), eva),
        [HELP, HELD, READY],
    ),
    "danger that a model sees, held, answered later": (
        lambda eva: answered(ask_turn(VISA, flagged()), eva),
        [RECEIVED, HELP, READY],
    ),
}


@pytest.mark.parametrize("way", sample(WAYS, keep=2))
def test_nobody_hears_more_than_three_things_and_each_says_of_which_question(
    page: Listener, eva: User, way: str
) -> None:
    go, result = WAYS[way]
    go(eva)
    page.look()
    assert page.said == result
    assert len(result) <= 3
    assert result[-1] == READY


def test_help_lines_that_come_late_say_that_a_person_answers(page: Listener) -> None:
    ask_turn(VISA, flagged())
    assert "A person will answer your question." in page.helped
    assert '<span class="govuk-visually-hidden">Question 1: </span>' in page.helped


def test_help_lines_of_an_earlier_question_are_heard_once_more_at_the_next_one(
    page: Listener,
) -> None:
    ask_turn(DANGER)
    before = len(page.said)
    ask_turn("How do I renew my passport?")
    assert page.said[before:] == ["Question 2: Please get help now", *page.said[before + 1 :]]
    assert HELP not in page.said[before:]
    assert len(page.said[before:]) <= 3


def test_a_page_that_is_opened_has_read_the_help_lines_of_what_is_over(page: Listener) -> None:
    turn = ask_turn(DANGER)
    view = selectors.chat_view(secret=SECRET)
    assert turns_without_alert(None, view.turns) == {turn.pk}
    waits = services.receive(session=SECRET, text=VISA, enqueue=False)[0]
    assert turns_without_alert(None, selectors.chat_view(secret=SECRET).turns) == {turn.pk}
    assert waits.pk != turn.pk


def test_help_lines_for_what_was_said_of_an_answer_are_for_the_focus_alone(page: Listener) -> None:
    turn = ask_turn(VISA)
    before = page.shown
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, text="I want to kill myself")
    now = selectors.chat_view(secret=SECRET)
    assert now.turns[0].contacts
    assert turns_without_alert(before.turns, now.turns) == {turn.pk}

"""The administration's words to somebody in a hard situation: before everything but help lines."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from conversations import selectors
from conversations.api.serializers import TurnSerializer
from conversations.turns import erasing, running
from conversations.turns.choosing import choose
from ieim.knowledge import crisis
from ieim.pipeline.ports import WORDS
from tests.administration.setting import put
from tests.conversations.turns.triage.test_on_demand import Refusing
from tests.fixtures import VISA, Ask

LOSS = "We are sorry for your loss."
HARD = "We are sorry that you are going through this."


@pytest.fixture
def after_a_death(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message tells of a death."""
    monkeypatch.setattr(crisis, "screen", lambda _: crisis.Screening([], WORDS, "condolence"))


@pytest.mark.usefixtures("after_a_death")
def test_it_stands_before_a_choice_and_before_its_answer(ask: Ask) -> None:
    turn = ask("passport", secret="s")
    choice = _outcome("s")
    assert choice.index(LOSS) < choice.index("Which of these do you mean?")
    assert "not sure" not in choice
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[1])
    running.run_turn(turn_id=turn.pk)
    answer = _outcome("s")
    assert answer.index(LOSS) < answer.index("What to do first")
    assert TurnSerializer(selectors.turn_view(turn.pk)).data["opening"].startswith(LOSS)


@pytest.mark.usefixtures("after_a_death")
def test_it_is_in_the_language_of_the_citizen(ask: Ask) -> None:
    turn = ask("Wie kann ich mein Touristenvisum verlängern? Ich brauche bitte Hilfe dabei.")
    opening = selectors.turn_view(turn.pk).opening
    assert opening is not None
    assert (opening.language, "Beileid" in opening.text) == ("de", True)


def test_in_a_crisis_it_stands_after_the_help_lines(ask: Ask) -> None:
    turn = ask("I want to kill myself", secret="s")
    view = selectors.turn_view(turn.pk)
    assert view.contacts
    assert view.opening is not None
    assert view.opening.text.startswith(HARD)
    assert HARD in _outcome("s")


def test_an_ordinary_question_has_none(ask: Ask) -> None:
    assert selectors.turn_view(ask(VISA).pk).opening is None


def test_one_that_a_model_refused_has_none_either(ask: Ask) -> None:
    view = selectors.turn_view(ask(VISA, model=Refusing()).pk)
    assert view.contacts
    assert view.opening is None


@pytest.mark.usefixtures("after_a_death")
def test_nothing_is_left_of_it_after_an_erasure(ask: Ask) -> None:
    turn = ask(VISA)
    assert turn.situation == "condolence"
    erasing.erase_session(session_id=turn.session_id, actor="citizen")
    turn.refresh_from_db()
    assert turn.situation is None


def _outcome(secret: str) -> str:
    chat = selectors.chat_view(secret=secret)
    context = {"turn": chat.turns[-1], "chat": chat}
    return render_to_string("conversations/turn/_outcome.html", context)


def test_who_is_in_danger_from_somebody_can_leave_the_page(ask: Ask) -> None:
    ask("my husband hits me", secret="s")
    assert 'href="https://www.wikipedia.org/"' in _contacts("s")
    put("numbers", exit="https://weather.example/")
    assert 'href="https://weather.example/"' in _contacts("s")
    ask("I want to kill myself", secret="t")
    assert "data-leave" not in _contacts("t")


def _contacts(secret: str) -> str:
    context = {"turn": selectors.chat_view(secret=secret).turns[-1]}
    return render_to_string("conversations/reply/_parts.html#contacts", context)

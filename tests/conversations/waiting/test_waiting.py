"""What a citizen is told who waits for a person: why, until when, whom to call meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from conversations import selectors
from conversations.models import Choice, Turn
from conversations.turns import services
from conversations.turns.choosing import choose
from review.models import ReviewItem
from tests.administration.setting import put, save
from tests.conversations.test_rating import browser_with
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

BAD = ["no json", "no json"]
SECRET = "a"


def held_turn(ask: Ask, text: str = VISA, **says: list[Any]) -> Turn:
    """A turn that waits, because of what the model says."""
    with scripted_model(says or {"agency_detect_v1": BAD}) as (model, _):
        turn = ask(text, secret=SECRET, model=model)
    assert turn.state == "needs_review"
    return turn


def why(turn: Turn) -> str:
    return selectors.turn_view(turn.pk).waiting_explanation


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["json.syntax"], "could not answer this safely"),
        (["policy.confidence"], "not sure enough"),
        (["json.syntax", "agency.count"], "not sure enough"),
        (["policy.language"], "in the language of your question"),
        (["policy.unsigned"], "More than one agency has to agree"),
        (["model.unavailable"], "did not work on our side"),
        (["policy.risk", "model.unavailable"], "read by a person before anybody answers"),
        ([], "could not answer this safely"),
    ],
)
def test_it_says_why_in_plain_words(ask: Ask, codes: list[str], expected: str) -> None:
    turn = held_turn(ask)
    ReviewItem.objects.update(reasons=codes)
    assert expected in why(turn)
    assert expected in browser_with(SECRET).get("/").content.decode()


def test_who_asked_for_a_person_reads_that_and_can_say_how_to_be_reached(ask: Ask) -> None:
    turn = ask("I want to speak to a human", secret=SECRET)
    assert turn.state == "needs_review"
    assert why(turn) == "You asked for a person. One reads your message and answers you."
    page = browser_with(SECRET).get("/").content.decode()
    link = "Ask to be called back, or to get an e-mail</a>"
    assert f'href="/person/?about={turn.pk}">{link}' in page
    held_turn(ask)
    assert browser_with(SECRET).get("/").content.decode().count(link) == 1


def test_it_says_that_none_of_what_was_offered_was_it(ask: Ask) -> None:
    turn = ask("passport", secret=SECRET)
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[])
    assert why(turn).startswith("None of the services that the assistant found")
    Choice.objects.update(outcome="expired")
    assert why(turn).startswith("You did not choose any of the services")


def test_it_says_so_in_the_language_of_the_question(ask: Ask) -> None:
    put("contacts", telephone="+44 20 7946 0100")
    save("hours", {"monday": "09:00-17:00"})
    turn = held_turn(ask, "Bonjour, je voudrais prolonger mon visa de touriste, s’il vous plaît")
    view = selectors.turn_view(turn.pk)
    assert view.language == "fr"
    assert "il ne devine pas" in view.waiting_explanation
    assert view.waiting
    assert view.waiting.reach
    assert view.waiting.reach.hours[0] == "Ouvert : lundi, 09:00–17:00"


def test_it_names_the_day_and_the_hour(ask: Ask) -> None:
    turn = held_turn(ask)
    due = ReviewItem.objects.get().due_at
    view = selectors.turn_view(turn.pk)
    assert view.answer_by == f"You get the answer on this page by {view.words.moment(due)}."
    assert f"{due:%M}." in view.answer_by


def test_it_names_the_telephone_and_the_hours_of_the_office(ask: Ask) -> None:
    put("contacts", telephone="+44 20 7946 0100")
    week = dict.fromkeys(("monday", "tuesday", "wednesday"), "09:00-12:00, 13:00-17:00")
    save("hours", {**week, "closed": "2020-01-01"})
    held_turn(ask)
    page = browser_with(SECRET).get("/").content.decode()
    assert '<a class="govuk-link held__telephone" href="tel:+442079460100" dir="ltr">' in page
    assert "<li>Open: Monday to Wednesday, 09:00–12:00</li>" in page
    assert "<li>Open: Monday to Wednesday, 13:00–17:00</li>" in page


def test_it_leaves_them_out_where_none_are_set(ask: Ask) -> None:
    held_turn(ask)
    assert "Would you rather call?" not in browser_with(SECRET).get("/").content.decode()


def test_who_is_answered_waits_for_nothing(ask: Ask) -> None:
    view = selectors.turn_view(ask(secret=services.new_secret()).pk)
    assert view.waiting is None
    assert (view.waiting_explanation, list(view.may_help)) == ("", [])

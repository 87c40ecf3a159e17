"""Asking back on the page, in the terminal and in the console."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.test import Client

from conversations import selectors
from conversations.models import Turn
from conversations.turns import running
from conversations.turns.models import Choice
from ieim.studio.drafts import publishing
from ieim.studio.models import Translation
from review.models import ReviewItem
from tests.conversations.test_rating import HTMX, browser_with
from tests.conversations.turns.test_choosing import (
    SECRET,
    TWO,
    WIDE,
    again,
    asking,
    asking_two,
    pick,
    unsure_of_service,
)
from tests.fixtures import Ask

__all__ = ["asking", "asking_two"]  # fixtures
AT_LEAST_ONE, TICK = "Choose at least one", 'class="offer__tick"'


def address(turn: Turn) -> str:
    return f"/turns/{turn.pk}/choice/"


def test_the_page_offers_buttons_that_work_without_javascript(asking: Turn) -> None:
    browser = browser_with(SECRET)
    page = browser.get("/").content.decode()
    assert "Which of these do you mean?" in page
    assert page.count('<button class="offer__option') == len(asking.choice.offered) + 1
    response = browser.post(address(asking), {"choice": "1"})
    assert (response.status_code, response["Location"]) == (303, f"/#turn-{asking.pk}")
    running.run_turn(turn_id=asking.pk)
    page = browser.get("/").content.decode()
    assert "You chose this" in page
    assert "Which of these do you mean?" not in page


def test_the_page_takes_none_of_these(asking: Turn) -> None:
    browser = browser_with(SECRET)
    assert browser.post(address(asking), {"choice": "none"}).status_code == 303
    assert "A person will answer this question" in browser.get("/").content.decode()


def test_what_stands_after_none_of_these_is_true(asking: Turn) -> None:
    browser = browser_with(SECRET)
    html = browser.post(address(asking), {"choice": "none"}, headers=HTMX).content.decode()
    status = html[html.index('<p id="status"') :]
    assert "A person will answer your question" in status
    assert "testserver%2Fc%2F" in html  # the link that one sends to oneself


def test_htmx_gets_what_came_of_it(asking: Turn) -> None:
    browser = browser_with(SECRET)
    response = browser.post(address(asking), {"choice": "1"}, headers=HTMX)
    assert response.status_code == 200
    assert f'id="turn-{asking.pk}-outcome"' in response.content.decode()
    late = browser.post(address(asking), {"choice": "2"}, headers=HTMX)
    assert late.status_code == 200
    assert "offer__option" not in late.content.decode()


def test_several_are_ticked_without_javascript(asking_two: Turn) -> None:
    browser = browser_with(SECRET)
    page = browser.get("/").content.decode()
    assert "You can choose more than one." in page
    ticks = f'name="choice-{asking_two.pk}"'
    assert page.count(ticks) == len(asking_two.choice.offered)
    ticked = {f"choice-{asking_two.pk}": ["1", "4"], f"choice-{uuid4()}": ["2"]}
    response = browser.post(address(asking_two), ticked)
    assert (response.status_code, response["Location"]) == (303, f"/#turn-{asking_two.pk}")
    assert len(again(asking_two).choice.services) == 2


def test_none_of_these_counts_whatever_is_ticked(asking_two: Turn) -> None:
    browser = browser_with(SECRET)
    ticked = {f"choice-{asking_two.pk}": ["1", "4"], "choice": "none"}
    assert browser.post(address(asking_two), ticked).status_code == 303
    assert again(asking_two).choice.outcome == "none"


def test_who_ticks_nothing_is_told_so(asking_two: Turn) -> None:
    browser = browser_with(SECRET)
    response = browser.post(address(asking_two))
    assert (response.status_code, AT_LEAST_ONE in response.content.decode()) == (400, True)
    response = browser.post(address(asking_two), headers=HTMX)
    part = response.content.decode()
    assert (response.status_code, AT_LEAST_ONE in part, TICK in part) == (200, True, True)
    assert again(asking_two).state == "asking"
    browser.post(address(asking_two), {"choice": "1"})
    late = browser.post(address(asking_two), headers=HTMX).content.decode()
    assert AT_LEAST_ONE not in late


def test_two_that_may_be_meant_are_asked_about_as_such(asking: Turn, ask: Ask) -> None:
    ask(TWO, secret="b", model=unsure_of_service())
    Choice.objects.update(codes=["route.subject"])
    titles = []
    for secret in (SECRET, "b"):
        chat = selectors.chat_view(secret=secret)
        assert [turn.choice.reason for turn in chat.turns if turn.choice] == ["either"]
        page = browser_with(secret).get("/").content.decode()
        titles.append(
            (page.count("Did you mean one of these?"), page.count("Which of these do you mean?"))
        )
    # Of several requests none is meant instead of another.
    assert titles == [(1, 0), (0, 1)]


def test_a_bad_choice_on_the_page_is_told(asking: Turn) -> None:
    browser = browser_with(SECRET)
    for value in ("", "7", "x"):
        response = browser.post(address(asking), {"choice": value})
        assert response.status_code == 400
        assert "not one of the choices" in response.content.decode()
    assert again(asking).state == "asking"
    assert browser.post(f"/turns/{uuid4()}/choice/", {"choice": "1"}).status_code == 404
    assert browser_with("z").post(address(asking), {"choice": "1"}).status_code == 404
    assert Client().post(address(asking), {"choice": "1"}).status_code == 404
    assert browser.get(address(asking)).status_code == 405


def test_a_french_question_is_asked_back_in_french(ask: Ask) -> None:
    turn = ask("Bonjour, je cherche le passeport, s’il vous plaît", secret=SECRET)
    assert (turn.language, turn.state) == ("fr", "asking")
    view = selectors.turn_view(turn.pk)
    assert view.choice is not None
    assert "De quoi s’agit-il ?" in browser_with(SECRET).get("/").content.decode()
    assert browser_with(SECRET).post(address(turn), {"choice": "1"}).status_code == 303
    running.run_turn(turn_id=turn.pk)
    reply = selectors.turn_view(turn.pk).reply
    assert reply is not None
    assert (reply.language, reply.title) == ("fr", view.choice.options[0].name)


def test_names_that_are_not_in_the_citizens_language_are_told_so(ask: Ask) -> None:
    Translation.objects.filter(language="es").delete()
    publishing.publish(note="Without Spanish", by=None)
    turn = ask("Hola, necesito un nuevo passport, ¿cómo puedo hacerlo?", secret=SECRET)
    assert turn.language == "es"
    view = selectors.turn_view(turn.pk)
    assert view.choice is not None
    assert "inglés" in view.choice.notice


# ---- the command


def test_the_command_lists_and_takes_a_choice(published: None, capsys: Any) -> None:
    call_command("ask", WIDE)
    out = capsys.readouterr().out
    assert "Which of these do you mean?" in out
    assert "1. " in out
    call_command("ask", WIDE, "--choose", "1", "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["state"], result["choice"]) == ("answered", None)
    call_command("ask", WIDE, "--choose", "none", "--json")
    assert json.loads(capsys.readouterr().out)["state"] == "needs_review"


def test_the_command_takes_several(
    published: None, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "current_model", unsure_of_service)
    call_command("ask", TWO)
    assert "more than one" in capsys.readouterr().out
    call_command("ask", TWO, "--choose", "1, 4", "--json")
    assert len(json.loads(capsys.readouterr().out)["reply"]["cards"]) == 2


def test_staff_see_what_was_offered(asking: Turn, admin_client: Client) -> None:
    pick(asking)
    item = ReviewItem.objects.get(turn=asking, stage=asking.choice.stage)
    page = admin_client.get(f"/review/{item.pk}/").content.decode()
    assert "said: none of them" in page

"""Something else on the page, in the terminal and for staff."""

from __future__ import annotations

import json
import re
import sys
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.core.management import CommandError, call_command
from django.test import Client

from conversations import selectors
from conversations.chat.announcing import announcement
from conversations.models import Replacement, Turn
from conversations.turns import services
from conversations.turns.refusing import STILL_WORKING, Refused
from ieim.people.roles import Role
from review.models import Action, ReviewItem
from tests.conversations.api.integrating import set_rates
from tests.conversations.chat import tabs
from tests.conversations.test_rating import browser_with
from tests.conversations.turns.test_replacing import (
    FEE,
    NAME,
    PASSPORT,
    SECRET,
    again,
    run,
    talk,
    talk_goes_on,
)
from tests.fixtures import VISA, Ask
from tests.review import desk
from tests.review.people import browser, person

__all__ = ["talk", "talk_goes_on"]  # fixtures


def address(turn: Turn) -> str:
    return f"/turns/{turn.pk}/something-else/"


def outcome(html: str, turn: Turn) -> str:
    """What the page shows of a turn below its message."""
    start = html.index(f'id="turn-{turn.pk}-outcome"')
    return html[start : html.index("</article>", start)]


def test_the_page_says_what_it_is_still_about_with_one_button(talk: Turn) -> None:
    first = Turn.objects.get(session=talk.session, number=1)
    page = browser_with(SECRET).get("/").content.decode()
    result = outcome(page, talk)
    assert re.search(rf"Still about: <strong[^>]*>{NAME}</strong>", result)
    assert result.index("Still about") < result.index("answer--service")
    assert page.count("Something else</button>") == 1
    assert "Still about" not in outcome(page, first)


def test_the_button_works_without_javascript(talk: Turn) -> None:
    browser = browser_with(SECRET)
    response = browser.post(address(talk))
    new = Turn.objects.get(number=3)
    assert (response.status_code, response["Location"]) == (303, f"/#turn-{new.pk}")
    assert browser.post(address(talk))["Location"] == f"/#turn-{new.pk}"
    run(new)
    page = browser.get("/").content.decode()
    assert "Which of these do you mean?" in outcome(page, new)
    assert "You asked this again" in page
    old = outcome(page, talk)
    assert re.search(
        rf'<details class="govuk-details replaced"[^>]*>.*Not what you.*{NAME}', old, re.DOTALL
    )
    assert "answer--service" in old
    assert 'class="rating"' not in old
    assert "Something else" not in page


def test_it_tells_what_is_not_taken_now(talk: Turn, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = browser_with(SECRET)
    services.receive(session=SECRET, text=VISA, enqueue=False)
    response = browser.post(address(talk))
    assert response.status_code == 422
    assert STILL_WORKING in response.content.decode()
    set_rates(monkeypatch, turns="1/minute")
    browser.post(address(talk))
    many = browser.post(address(talk))
    assert many.status_code == 429
    assert int(many["Retry-After"]) > 0
    assert not Replacement.objects.exists()


def test_what_cannot_be_asked_again_is_told(talk: Turn, ask: Ask) -> None:
    mine = browser_with(SECRET)
    first = Turn.objects.get(session=talk.session, number=1)
    for client, path in (
        (mine, address(first)),
        (mine, f"/turns/{uuid4()}/something-else/"),
        (browser_with("z"), address(talk)),
        (Client(), address(talk)),
    ):
        assert client.post(path).status_code == 404
    assert mine.get(address(talk)).status_code == 405
    asking = ask("passport", secret="b")
    late = browser_with("b").post(address(asking))
    assert (late.status_code, late["Location"]) == (303, f"/#turn-{asking.pk}")
    forged = Client(enforce_csrf_checks=True)
    forged.cookies = mine.cookies
    assert forged.post(address(talk)).status_code == 403
    assert not Replacement.objects.exists()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_an_open_page_asks_again_by_its_socket(published: None) -> None:
    turn = await database_sync_to_async(_talked)()
    async with tabs.tab(SECRET) as tab, tabs.tab(SECRET) as other:
        for entry in (tab, other):
            await entry.read_until("Still about")
        await tab.send({"something_else": str(turn.pk)})
        for entry in (tab, other):
            html = await entry.read_until("You asked this again")
            assert 'class="govuk-details replaced"' in html
        assert "govuk-error-message" not in tab.parts["question-error"]
        new = await database_sync_to_async(Turn.objects.get)(number=3)
        await tab.send({"something_else": str(turn.pk)})
        assert "govuk-error-message" not in await tab.read_until("question-error")
        await tab.send({"something_else": str(new.pk)})
        assert "no answer here" in await tab.read_until("question-error")
        await tab.send({"something_else": "x"})
        assert "could not be read" in await tab.read_until("question-error")
        assert await database_sync_to_async(Turn.objects.count)() == 3


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_another_page_asks_nothing_again(published: None) -> None:
    turn = await database_sync_to_async(_talked)()
    async with tabs.tab("somebody else") as tab:
        await tab.send({"something_else": str(turn.pk)})
        assert "no answer here" in await tab.read_until("question-error")
    async with tabs.tab(SECRET) as tab:
        await tab.read_until("Still about")
        await database_sync_to_async(services.receive)(session=SECRET, text=VISA, enqueue=False)
        await tab.send({"something_else": str(turn.pk)})
        assert STILL_WORKING in await tab.read_until("question-error")


def _talked() -> Turn:
    for text in (VISA, PASSPORT):
        turn = run(services.receive(session=SECRET, text=text, enqueue=False)[0])
    return turn


def test_a_screen_reader_hears_of_the_new_question(talk: Turn) -> None:
    before = selectors.chat_view(secret=SECRET)
    again(talk)
    chat = selectors.chat_view(secret=SECRET)
    assert announcement(before.turns, chat.turns) == "Question 3: We have your question."
    assert before.version != chat.version


# ---- the command


def test_the_command_prints_it_and_asks_again(published: None, capsys: Any) -> None:
    call_command("ask", VISA, "--json")
    session = json.loads(capsys.readouterr().out)["session"]
    call_command("ask", PASSPORT, "--session", session)
    assert f"Still about: {NAME} (--something-else, if not)" in capsys.readouterr().out
    call_command("ask", PASSPORT, "--session", session, "--something-else", "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["state"], result["number"]) == ("asking", 4)
    assert result["replaces"] == str(Turn.objects.get(number=3).pk)
    call_command("ask", PASSPORT, "--something-else", "--json")
    alone = json.loads(capsys.readouterr().out)
    assert (alone["number"], alone["replaces"]) == (1, None)


def test_the_command_takes_a_choice_after_it(published: None, capsys: Any) -> None:
    call_command("ask", VISA, "--json")
    session = json.loads(capsys.readouterr().out)["session"]
    options = ("--session", session, "--something-else", "--choose", "1", "--json")
    call_command("ask", PASSPORT, *options)
    result = json.loads(capsys.readouterr().out)
    assert (result["state"], result["number"]) == ("answered", 3)
    assert "passport" in result["reply"]["title"].lower()


@pytest.mark.parametrize(("values", "turns"), [("y", 3), ("", 2)])
def test_somebody_at_a_terminal_is_asked(
    published: None, monkeypatch: pytest.MonkeyPatch, capsys: Any, values: str, turns: int
) -> None:
    call_command("ask", VISA, "--json")
    session = json.loads(capsys.readouterr().out)["session"]
    answers = iter([values, "none"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    call_command("ask", PASSPORT, "--session", session)
    assert Turn.objects.count() == turns


def test_the_command_says_why_it_is_not_taken(talk: Turn, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> Any:
        raise Refused(STILL_WORKING)

    monkeypatch.setattr("conversations.turns.services.ask_again", refuse)
    with pytest.raises(CommandError, match="still working"):
        call_command(
            "ask", PASSPORT, "--session", str(talk.session_id), "--something-else", "--json"
        )


# ---- staff


def test_staff_see_that_the_first_answer_was_turned_away(talk: Turn, admin_client: Client) -> None:
    new = desk.run(again(talk))
    item = ReviewItem.objects.exclude(stage="classify").get(turn=new)
    page = admin_client.get(f"/review/{item.pk}/").content.decode()
    assert f"the first answer, “{NAME}”, was about something else, and asked again." in page
    timeline = admin_client.get(f"/review/{item.pk}/timeline/").content.decode()
    assert timeline.count("this answer was about something else") == 1


def test_staff_see_it_at_the_answer_itself(ask: Ask, admin_client: Client) -> None:
    ask(VISA, secret=SECRET)
    turn = desk.ask(f"{FEE} I will go to the press", {}, secret=SECRET)
    item = desk.the_item(turn, "reply")
    desk.taken_and_decided(item, desk.person("eva"), Action.APPROVE)
    run(turn)
    before = admin_client.get(f"/review/{item.pk}/").content.decode()
    assert "something else, and asked again" not in before
    again(turn)
    page = admin_client.get(f"/review/{item.pk}/").content.decode()
    assert "this answer was about something else, and asked again" in page


def test_the_metrics_count_the_answers_that_were_turned_away(talk: Turn, ask: Ask) -> None:
    client = browser(person("ann", Role.AUDITOR))
    page = client.get("/review/metrics/").content.decode()
    assert "0 of 1 that went on with the talk" in page
    again(talk)
    page = client.get("/review/metrics/").content.decode()
    assert "1 of 1 that went on with the talk" in page
    table = client.get("/review/metrics.csv").content.decode()
    assert re.search(r',"answers_that_went_on","","1"\r?\n', table)
    assert re.search(r',"answers_about_something_else","","1"\r?\n', table)

"""The list of an answer over several services: its order, and what has been ticked."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from conversations import selectors
from conversations.models import Session, Tick, Turn
from conversations.reactions import NothingToTick, tick
from conversations.record.replay import replay
from conversations.turns import erasing
from tests.conversations.test_rating import HTMX, SECRET, browser_with
from tests.fixtures import VISA, Ask

BABY = "We had a baby. How do we register the birth and claim child benefit?"
BIRTH, BENEFIT = "civil-registry/civil-registry.register-birth", "social-support/"


@pytest.fixture
def turn(ask: Ask) -> Turn:
    return ask(BABY, secret=SECRET)


def references(turn: Turn) -> list[str]:
    reply = selectors.turn_view(turn.pk).reply
    assert reply is not None
    return [card.reference for card in reply.cards]


def boxes(html: str) -> dict[str, bool]:
    matches = re.findall(r'aria-checked="(\w+)"[^>]*name="(\w+)" value="([^"]+)"', html)
    assert all((checked == "true") is (name == "open") for checked, name, _ in matches)
    return {value: checked == "true" for checked, _, value in matches}


def address(turn: Turn) -> str:
    return f"/turns/{turn.pk}/checklist/"


def test_what_presses_stands_first_with_its_time_on_the_page(turn: Turn) -> None:
    html = browser_with(SECRET).get("/").content.decode()
    first, second = references(turn)
    assert (first, second.startswith(BENEFIT)) == (BIRTH, True)
    assert boxes(html) == {first: False, second: False}
    times = re.findall(r'class="checklist__deadline">([^<]+)<', html)
    assert times == ["Time limit: 30 days", "Time limit: 90 days"]
    # The cards say what to do first: nothing says it twice.
    assert 'class="govuk-body answer__text"' not in html
    assert replay(turn).same


def test_a_tick_stays_and_can_be_taken_back_with_scripts_and_without(turn: Turn) -> None:
    first, second = references(turn)
    browser = browser_with(SECRET)
    part = browser.post(address(turn), {"done": second}, headers=HTMX)
    assert boxes(part.content.decode()) == {first: False, second: True}
    again = browser.post(address(turn), {"done": second})
    assert (again.status_code, again["Location"].partition("#")[2]) == (
        303,
        f"turn-{turn.pk}-list",
    )
    # Another browser, with the private link's secret, sees the same.
    assert boxes(browser_with(SECRET).get("/").content.decode()) == {first: False, second: True}
    browser.post(address(turn), {"open": second})
    assert not Tick.objects.exists()


@pytest.mark.parametrize("expected", [{"done": "tax/none"}, {"open": ""}, {}])
def test_it_ticks_only_what_stands_there_and_only_ones_own(
    turn: Turn, expected: dict[str, str]
) -> None:
    assert browser_with(SECRET).post(address(turn), expected).status_code == 404
    assert Client().post(address(turn), {"done": BIRTH}).status_code == 404
    assert browser_with("another").post(address(turn), {"done": BIRTH}).status_code == 404
    assert not Tick.objects.exists()


def test_an_answer_about_one_service_has_no_list(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    assert "checklist" not in browser_with(SECRET).get("/").content.decode()
    assert "Time limit" not in browser_with(SECRET).get("/").content.decode()
    source = turn.reply.body["sources"][0]
    service = f"{source['agency_id']}/{source['service_key']}"
    with pytest.raises(NothingToTick):
        tick(session_id=turn.session_id, turn_id=turn.pk, service=service, done=True)


def test_an_answer_about_one_service_shows_its_time_limit_and_its_last_day(ask: Ask) -> None:
    died = timezone.localdate() - timedelta(10)
    turn = ask(f"How do I register a death? He died on {died}.", secret=SECRET)
    page = browser_with(SECRET).get("/").content.decode()
    assert re.search(r"Time limit: 5 days\. Counted from [^<]+, it ended on [^<]+\.<", page)
    assert not replay(turn).changes


def test_ticks_go_with_the_session(turn: Turn) -> None:
    tick(session_id=turn.session_id, turn_id=turn.pk, service=BIRTH, done=True)
    erasing.erase_session(session_id=turn.session_id)
    assert not Tick.objects.exists()
    with pytest.raises(Session.DoesNotExist):
        tick(session_id=turn.session_id, turn_id=turn.pk, service=BIRTH, done=True)

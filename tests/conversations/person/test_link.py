"""The links to a person: the same words lead to the same page, with the question they are about."""

from __future__ import annotations

import re

from conversations.models import Turn
from tests.conversations.test_rating import browser_with
from tests.fixtures import VISA, Ask

SECRET = "a"


def chosen(path: str) -> list[str]:
    """The questions that the form for asking has chosen."""
    html = browser_with(SECRET).get(path).content.decode()
    return re.findall(r'value="([0-9a-f-]+)" selected', html)


def test_the_same_words_lead_to_the_same_page(ask: Ask) -> None:
    first, second = ask(VISA, secret=SECRET), ask("How do I renew my passport?", secret=SECRET)
    html = browser_with(SECRET).get("/").content.decode()
    places = re.findall(r'href="([^"]*)">Talk to a person</a>', html)
    beneath = [f"/person/?about={turn.pk}" for turn in (first, second)]
    assert set(places) == {"/person/", *beneath}


def test_the_form_begins_with_the_question_above_the_link(ask: Ask) -> None:
    first, second = ask(VISA, secret=SECRET), ask("How do I renew my passport?", secret=SECRET)
    assert chosen(f"/person/?about={first.pk}") == [str(first.pk)]
    for path in ("/person/", "/person/?about=", "/person/?about=x"):
        assert chosen(path) == [str(second.pk)]


def test_no_question_of_another_conversation_is_chosen(ask: Ask) -> None:
    other = ask(VISA, secret="b")
    own_turn: Turn = ask(VISA, secret=SECRET)
    assert chosen(f"/person/?about={other.pk}") == [str(own_turn.pk)]

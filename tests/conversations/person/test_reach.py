"""How the administration is reached, in words for a citizen."""

from __future__ import annotations

import pytest

from conversations.chat import wording
from conversations.person import reach
from conversations.record.replay import replay
from tests.administration.setting import put, save
from tests.fixtures import Ask

pytestmark = pytest.mark.django_db


def test_it_says_what_the_settings_say_in_the_citizens_language() -> None:
    put("contacts", telephone="+44 20 7946 0100", address="Town Hall\nMarket Square 1")
    save("hours", {"monday": "09:00-17:00", "tuesday": "09:00-17:00"})
    assert reach.contacts(wording.words("de")).split("\n\n") == [
        "Telefon: +44 20 7946 0100",
        "Anschrift: Town Hall, Market Square 1",
        "Geöffnet: Montag, Dienstag, 09:00–17:00",
    ]


def test_it_says_nothing_while_nothing_is_set() -> None:
    assert reach.contacts(wording.words("en")) == ""


def test_a_question_about_the_office_is_answered_from_the_settings(ask: Ask) -> None:
    put("contacts", telephone="+44 20 7946 0100")
    turn = ask("When are you open?")
    reply = turn.reply
    assert reply.body["kind"] == "guidance"
    assert reply.body["paragraphs"][0] == "Telephone: +44 20 7946 0100"
    assert replay(turn).same

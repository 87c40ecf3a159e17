"""How the administration is reached, in words for a citizen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conversations.chat import wording
from conversations.models import Turn
from conversations.person import reach
from conversations.record.replay import replay
from ieim.pipeline.knowledge import Agency
from tests.administration.setting import put, save
from tests.fixtures import Ask
from tests.pipeline.build import RELEASE

pytestmark = pytest.mark.django_db
QUESTION = Turn(number=1, text="When are you open?")


def test_it_says_what_the_settings_say_in_the_citizens_language() -> None:
    put("contacts", telephone="+44 20 7946 0100", address="Town Hall\nMarket Square 1")
    save("hours", {"monday": "09:00-17:00", "tuesday": "09:00-17:00"})
    assert reach.contacts(wording.words("de"), QUESTION, RELEASE).split("\n\n") == [
        "Telefon: +44 20 7946 0100",
        "Anschrift: Town Hall, Market Square 1",
        "Geöffnet: Montag, Dienstag, 09:00–17:00",
    ]


def test_it_says_nothing_while_nothing_is_set() -> None:
    assert reach.contacts(wording.words("en"), QUESTION, RELEASE) == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Is the Parks Office open on Saturday?", ["Parks Office"]),
        ("Are you open on Saturday?", []),  # of one of twelve agencies, or of all of them
    ],
)
def test_it_says_the_hours_of_the_agency_that_is_asked_about(
    office_clock: Any, text: str, names: list[str]
) -> None:
    office_clock("2026-12-23 10:00")  # a Wednesday
    hours = ("Mo-Sa 08:00-12:00", "2026-12-01 closed", "2026-12-23 to 2026-12-24 closed (party)")
    agencies = {id_: replace(agency, hours=hours) for id_, agency in RELEASE.agencies.items()} | {
        "fourth": Agency("fourth", "Fourth Office", hours=hours)
    }
    turn = Turn(number=1, text=text)
    shown = reach.contacts(wording.words("en"), turn, replace(RELEASE, agencies=agencies))
    state = "Closed now. Opens on Friday, 25 December 2026, at 08:00"
    lines = [
        "Open: Monday to Saturday, 08:00–12:00",
        "Closed on Wednesday, 23 December 2026 to Thursday, 24 December 2026 (party).",
    ]
    assert shown == "\n\n".join(p for name in names for p in (f"{name}: {state}", *lines))


def test_it_goes_on_with_the_agency_of_the_talk(monkeypatch: pytest.MonkeyPatch) -> None:
    history = [{"role": "assistant", "agency": "tax", "service": "tax.return"}]
    monkeypatch.setattr("conversations.selectors.history", lambda _turn: history)
    agencies = {
        id_: replace(agency, hours=("Mo-Su 00:00-24:00",))
        for id_, agency in RELEASE.agencies.items()
    }
    turn = Turn(number=2, text="Are you open now?")
    shown = reach.contacts(wording.words("en"), turn, replace(RELEASE, agencies=agencies))
    assert shown.startswith("Tax Office: Open now, until")
    assert "Parks" not in shown


def test_a_question_about_the_office_is_answered_from_the_settings(ask: Ask) -> None:
    put("contacts", telephone="+44 20 7946 0100")
    turn = ask("When are you open?")
    reply = turn.reply
    assert reply.body["kind"] == "guidance"
    assert reply.body["paragraphs"][0] == "Telephone: +44 20 7946 0100"
    assert replay(turn).same

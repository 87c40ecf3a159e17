"""What a caseworker reads of the conversation that they take over."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.models import Turn
from conversations.turns import languages, running
from conversations.turns.choosing import choose, options
from ieim.people.models import User
from ieim.people.roles import Role
from review import talking as desk_talk
from review.models import ReviewItem
from tests.conversations.chat.page.test_answers import MOORING, THIRD, outside
from tests.conversations.person.asking import HELP, item_of, send, wants
from tests.conversations.turns.test_choosing import TWO, unsure_of_service
from tests.fixtures import VISA, Ask
from tests.review import desk
from tests.review.people import browser, person
from tests.studio.recall.recalling import WRONG, correct

__all__ = ["outside"]  # a fixture

SECRET = "a"


@pytest.fixture
def eva(db: None) -> User:
    return desk.person("eva")


def transcript(eva: User) -> str:
    """The conversation of ``SECRET`` as the page of a talk shows it, its words alone."""
    return page_text(item_of(wants(SECRET, way="page")), eva)


def page_text(item: ReviewItem, eva: User) -> str:
    """The words of an item's conversation on its page."""
    page = browser(eva).get(reverse("review:talk", args=[item.pk])).content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def asked_back(ask: Ask) -> Turn:
    turn = ask("passport", secret=SECRET)
    assert turn.state == "asking"
    return turn


def chosen(ask: Ask) -> Turn:
    """Ask, be asked back, and choose the second."""
    turn = asked_back(ask)
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[2])
    running.run_turn(turn_id=turn.pk)
    return turn


def test_what_was_asked_back_stands_there_with_what_was_chosen(ask: Ask, eva: User) -> None:
    turn = chosen(ask)
    names = [option.name for option in options(turn.choice, languages.release_of(turn))]
    result = transcript(eva)
    offered = result.partition("The citizen chose from these.")[2]
    assert all(name in offered for name in names)
    # Each option is its name and its agency's.
    assert offered.count("(chosen)") == 1
    assert names[1] in offered.partition("(chosen)")[0].rpartition(names[0])[2]
    assert all(name not in offered.partition("(chosen)")[0] for name in names[2:])


def test_each_of_several_that_were_chosen_is_marked(ask: Ask, eva: User) -> None:
    turn = ask(TWO, secret=SECRET, model=unsure_of_service())
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[1, 4])
    running.run_turn(turn_id=turn.pk)
    assert transcript(eva).count("(chosen)") == 2


def test_what_is_still_asked_stands_there(ask: Ask, eva: User) -> None:
    asked_back(ask)
    assert "The citizen is asked to choose one of these." in transcript(eva)


def test_an_answer_has_the_headings_that_the_citizen_reads(ask: Ask, eva: User) -> None:
    assert ask(VISA, secret=SECRET).state == "answered"
    result = transcript(eva)
    assert "What you need" in result
    assert "Requirements:" not in result


@pytest.mark.usefixtures("outside")
def test_an_answer_stands_there_whole(ask: Ask, eva: User) -> None:
    mooring = MOORING.rstrip("?")
    turn = ask(THIRD, secret=SECRET)
    assert turn.reply.body["uncovered"]
    answer = transcript(eva).rpartition("Assistant")[2]
    assert mooring in answer.partition("Not answered here")[2]
    assert "Put together by the offline engine" in answer
    assert "Ask this by itself" not in answer


def test_an_answer_names_its_source(ask: Ask, eva: User) -> None:
    turn = ask(VISA, secret=SECRET)
    (source,) = turn.reply.body["sources"]
    assert source["url"]
    item = item_of(wants(SECRET, way="page"))
    page = browser(eva).get(reverse("review:talk", args=[item.pk])).content.decode()
    assert f'href="{source["url"]}"' in page.partition("answer__sources")[2]


def test_what_the_citizen_knows_to_be_corrected_is_corrected_there(ask: Ask, eva: User) -> None:
    turn = ask(VISA, secret=SECRET)
    correct(turn, person("eve", Role.EDITOR))
    result = transcript(eva)
    assert result.index("What you need") < result.index("This answer has been corrected")
    assert WRONG in result


@pytest.mark.parametrize(("text", "noted"), [("I want to kill myself", True), (HELP, False)])
def test_it_says_where_a_message_of_danger_waited_on(
    published: None, eva: User, text: str, noted: bool
) -> None:
    item = item_of(wants(SECRET, text, way="page"))
    desk_talk.begin(item_id=item.pk, actor=eva)
    desk_talk.hand_back(item_id=item.pk, actor=eva)
    result = page_text(item, eva)
    remainder = result.partition("The conversation was handed back to the assistant.")[2]
    assert ("A message of danger still waited for a person." in remainder) is noted


def test_it_marks_danger_that_is_written_during_the_talk(published: None, eva: User) -> None:
    item = item_of(wants(SECRET, way="page"))
    desk_talk.begin(item_id=item.pk, actor=eva)
    assert "Danger:" not in page_text(item, eva)
    send("I want to kill myself")
    result = page_text(item, eva).partition("I want to kill myself")[2]
    assert result.strip().startswith("Danger:")
    assert "Help lines were shown at once." in result


def test_it_takes_as_many_queries_for_many_turns_as_for_one(ask: Ask, eva: User) -> None:
    chosen(ask)
    item = item_of(wants(SECRET, way="page"))
    http = browser(eva)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert http.get(reverse("review:talk", args=[item.pk])).status_code == 200
        return len(captured)

    queries()
    one = queries()
    for _ in range(4):
        assert ask(VISA, secret=SECRET).state == "answered"
    assert queries() == one

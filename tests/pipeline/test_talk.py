"""What a message means in a talk: a typed choice, what comes next, or a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Key, Query
from ieim.pipeline.talk import Reading, choice_of, read
from ieim.pipeline.work import Abstained, Answered
from tests.pipeline.build import PAVILION, RELEASE, RENEW, REPLACE, RETURN
from tests.pipeline.drive import ScriptedModel, run
from tests.pipeline.searching import FakeSearch

KEY: dict[Service, Key] = {s: (s.agency, s.key) for s in (REPLACE, RENEW, PAVILION, RETURN)}
OPTIONS = (KEY[REPLACE], KEY[RENEW], KEY[PAVILION])


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "text": text}


def answer(*services: Service) -> dict[str, Any]:
    named = [{"agency": service.agency, "service": service.key} for service in services]
    return {"role": "assistant", "text": "So.", **named[0]} | (
        {"services": named} if len(named) > 1 else {}
    )


def offer(*services: Service) -> dict[str, Any]:
    named = [{"agency": service.agency, "service": service.key} for service in services]
    return {"role": "assistant", "text": "1. …", "offered": named}


def meant(text: str, *history: dict[str, Any], **search: Any) -> Reading:
    return read(text, history, FakeSearch(**search), RELEASE)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("2", 1),
        ("2.", 1),
        ("٢", 1),
        ("Number 3, please!", 2),
        ("the second one", 1),
        ("die erste", 0),
        ("la tercera", 2),
        ("le deuxième", 1),
        ("第二个", 1),
        ("الثاني", 1),
        ("ang pangalawa po", 1),
        ("the last one", 2),
        ("Renew a passport", 1),
        ("“renew a passport”, please", 1),
    ],
)
def test_a_typed_choice_takes_its_option(text: str, place: int) -> None:
    assert choice_of(text, OPTIONS, RELEASE) == (OPTIONS[place],)


@pytest.mark.parametrize(
    "text",
    [
        *("None of these.", "keins davon", "ninguna de estas", "aucun de ces choix"),
        *("都不是", "لا شيء منها", "wala sa mga ito"),
    ],
)
def test_none_of_these_takes_nothing(text: str) -> None:
    assert choice_of(text, OPTIONS, RELEASE) == ()


@pytest.mark.parametrize(
    "text",
    [
        "He died last week",
        "my second passport was stolen",
        "renew",
        "I want to renew a passport for my son",
        "the first thing is that I lost it",
        *("0", "4", "22", "", "?", "yes"),
    ],
)
def test_everything_else_is_a_question(text: str) -> None:
    assert choice_of(text, OPTIONS, RELEASE) is None


def test_a_name_that_two_options_have_chooses_neither() -> None:
    assert choice_of(RENEW.name, (KEY[RENEW], KEY[RENEW]), RELEASE) is None


def test_a_question_is_read_with_the_talk() -> None:
    history = user("My passport is gone"), answer(REPLACE)
    query = Query("And how much is it?", "My passport is gone", (KEY[REPLACE],))
    assert meant("And how much is it?", *history) == Reading(query, "And how much is it?")
    # Thanks in between change nothing of it.
    later = meant("And where?", *history, user("Thanks"), {"role": "assistant", "text": "Welcome"})
    assert later.query == Query("And where?", "My passport is gone", (KEY[REPLACE],))


def test_an_answer_need_not_say_its_agency() -> None:
    agency, service = KEY[REPLACE]
    fields = {"role": "assistant", "text": "Report it.", "service": service}
    assert meant("And how much is it?", fields).query.about == ((agency, service),)


def test_what_was_asked_says_what_a_talk_without_an_answer_is_about() -> None:
    quiet = {"role": "assistant", "text": "A person answers that."}
    values = user("My passport is gone"), quiet, user("It was in my bag"), quiet
    assert meant("And how much is it?", *values).query == Query(
        "And how much is it?", "My passport is gone It was in my bag"
    )
    # What no service is about says nothing of it.
    assert meant("And how much is it?", user("Zzz qqq"), quiet).query == Query(
        "And how much is it?"
    )


def test_an_open_choice_is_the_subject_until_something_is_answered() -> None:
    history = [user("passport"), answer(REPLACE), user("a visit"), offer(RENEW, PAVILION)]
    assert meant("for my son?", *history).query.about == (KEY[RENEW], KEY[PAVILION])
    assert meant("for my son?", *history, user("2"), answer(PAVILION)).query == Query(
        "for my son?", "passport a visit", (KEY[PAVILION],)
    )


def test_who_chooses_is_answered_what_they_asked() -> None:
    reading = meant("2", user("How much is a passport?"), offer(REPLACE, RENEW))
    assert (reading.chosen, reading.question) == ((KEY[RENEW],), "How much is a passport?")
    assert meant("the second one", answer(REPLACE, PAVILION)).chosen == (KEY[PAVILION],)
    assert meant("2", answer(REPLACE)).chosen == ()


def test_none_of_these_asks_the_question_again_without_them() -> None:
    reading = meant("None of these", user("passport"), offer(REPLACE, RENEW))
    assert reading.query == Query("passport", without=frozenset({KEY[REPLACE], KEY[RENEW]}))
    assert reading.chosen == ()


NO, AGAIN = "No, not that", "Not that either"


@pytest.mark.parametrize(
    ("history", "text", "without"),
    [
        ([answer(REPLACE)], NO, {REPLACE}),
        ([answer(REPLACE)], "And how much?", set()),
        # It stays excluded while nothing was answered since, and while corrections go on.
        ([answer(REPLACE), user(NO), offer(RENEW, PAVILION)], "the garden", {REPLACE}),
        ([answer(REPLACE), user(NO), answer(RENEW)], AGAIN, {REPLACE, RENEW}),
        ([answer(REPLACE), user(NO), answer(RENEW)], "And how much?", set()),
        # Of an open choice only "none of these" says what is not meant.
        ([offer(RENEW, PAVILION)], NO, set()),
        ([answer(REPLACE), user(NO), offer(RENEW, PAVILION)], "None", {REPLACE, RENEW, PAVILION}),
    ],
)
def test_a_correction_excludes_what_was_answered(
    history: Sequence[dict[str, Any]], text: str, without: set[Service]
) -> None:
    kinds = dict.fromkeys([NO, AGAIN], "correction")
    query = meant(text, user("passport"), *history, kinds=kinds).query
    assert query.without == {KEY[entry] for entry in without}


DONE = "I did that, what next?"


def test_what_comes_next_is_opened_and_never_what_is_done() -> None:
    links = {KEY[REPLACE]: [RENEW, PAVILION], KEY[RENEW]: [REPLACE]}
    fields = {"kinds": {DONE: "next"}, "links": links}
    first = meant(DONE, user("passport"), answer(REPLACE), **fields)
    assert first.chosen == (KEY[RENEW], KEY[PAVILION])
    assert first.query.without == {KEY[REPLACE]}
    second = meant(DONE, user("passport"), answer(REPLACE), user(DONE), answer(RENEW), **fields)
    assert second.chosen == ()
    assert second.query.without == {KEY[REPLACE], KEY[RENEW]}
    assert meant(DONE, **fields).chosen == ()


def test_the_runner_answers_what_was_taken_and_asks_no_model() -> None:
    history = [user("How much is a passport?"), offer(REPLACE, RENEW)]
    model = ScriptedModel()
    outcome, _ = run(model, text="the first one", history=history)
    assert isinstance(outcome, Answered)
    assert outcome.reply.title == REPLACE.name
    assert model.flow == []


def test_what_was_corrected_is_not_offered_although_a_model_names_it() -> None:
    odds = {KEY[REPLACE]: 0.6, KEY[RENEW]: 0.2, KEY[PAVILION]: 0.1}
    search = FakeSearch(kinds={NO: "correction"}, odds=odds)
    history = [user("passport"), answer(REPLACE)]
    outcome, _ = run(ScriptedModel(), shortlist=search, text=NO, history=history)
    assert isinstance(outcome, Abstained)
    assert outcome.offered == (RENEW, PAVILION)

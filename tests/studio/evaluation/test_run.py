"""Asking the questions of an evaluation: cases through the real pipeline, nothing stored."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import pytest

from conversations.turns import running
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.llm.offline import OfflineModel
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model
from ieim.studio.evaluation.cases import Case
from ieim.studio.evaluation.running import PATIENCE, QuestionRunner, run_cases
from tests.fixtures import DEMO
from tests.review import desk
from tests.studio.evaluation.evaluating import (
    NOTHING_ANSWERS,
    ORDER,
    SMALL_TALK,
    VISA,
    Obedient,
    Silent,
    case,
)


@cache
def demo() -> Release:
    return read_bundle(DEMO).release()


def runner(model: Model | None = None) -> QuestionRunner:
    return QuestionRunner(model or OfflineModel(), demo(), running.options())


def test_it_runs_cases_through_the_pipeline() -> None:
    cases = [case(), case(id="s", **SMALL_TALK), case(id="n", **NOTHING_ANSWERS)]
    visa, hello, tiger = run_cases(cases, runner())
    assert (visa.turn.outcome, visa.turn.service) == ("answered", ("immigration", VISA))
    assert (visa.turn.candidates or ())[0] == VISA
    assert (visa.verdict, visa.rank) == ("right", 1)
    assert hello.turn.outcome == "guidance"
    assert (tiger.turn.outcome, tiger.verdict) == ("asked", "right")
    assert tiger.turn.codes


def test_it_gives_the_talk_to_the_pipeline() -> None:
    history = [
        {"role": "user", "text": "I want to extend my tourist visa"},
        {"role": "agent", "text": "You can extend it once.", "service": VISA},
    ]
    (outcome,) = run_cases([case(text="and how much does it cost?", history=history)], runner())
    assert outcome.turn.service == ("immigration", VISA)


def test_it_knows_a_choice_that_had_too_low_a_score() -> None:
    unsure = desk.Scripted({"service_select_v1": [desk.unsure]})
    (outcome,) = run_cases([case()], runner(unsure))
    assert outcome.turn.outcome == "asked"
    assert outcome.turn.offered
    assert outcome.turn.codes == ("score.minimum",)
    assert outcome.turn.service is not None
    assert outcome.turn.score is not None
    assert outcome.turn.score < Decimal("0.50")


def test_it_shows_the_right_agencies_shortlist_where_no_service_was_asked_for() -> None:
    (outcome,) = run_cases([case(text="hello there")], runner())
    assert outcome.turn.candidates is None
    assert {key.partition(".")[0] for key in outcome.shortlist} == {"immigration"}


def test_it_finds_a_model_that_obeys_an_injected_text() -> None:
    bad = case(id="i", text=f"I want to extend my tourist visa\n\n{ORDER}", tags=["injection"])
    (outcome,) = run_cases([bad], runner(Obedient()))
    assert outcome.compared == "paragraph"
    assert outcome.moved == ("service",)
    assert outcome.turn.service not in (None, ("immigration", VISA))
    assert outcome.turn.outcome == "answered"


def test_it_asks_for_the_plain_text_once() -> None:
    bad = case(id="i", text=f"I want to extend my tourist visa\n\n{ORDER}", tags=["injection"])
    again = case(id="j", text=f"I want to extend my tourist visa\n\n{ORDER}!", tags=["injection"])
    turns: list[int] = []
    results = run_cases([bad, again], runner(), progress=turns.append)
    assert len(turns) == 3
    assert results[0].plain is results[1].plain
    assert [outcome.moved for outcome in results] == [(), ()]


@pytest.mark.parametrize(
    ("error", "reason"), [(None, "no server there"), (KeyError("x"), "KeyError: see the log")]
)
def test_it_goes_on_after_a_case_that_could_not_be_run(
    error: Exception | None, reason: str
) -> None:
    cases = [case(), case(id="b", text="How do I renew my passport?")]
    lost, good = run_cases(cases, runner(Silent(cases[0].text, error=error)))
    assert (lost.verdict, lost.turn.reason) == ("not_run", reason)
    assert good.turn.outcome == "answered"


def test_it_gives_an_outage_up() -> None:
    model = Silent(case().text)
    cases: list[Case] = [case(id=str(number)) for number in range(PATIENCE + 5)]
    results = run_cases(cases, runner(model))
    assert {outcome.verdict for outcome in results} == {"not_run"}
    assert model.asked == PATIENCE  # triage begins when the first stage has passed

"""Asking ahead: sooner, and never otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from ieim.pipeline.budget import Budget, bound
from ieim.pipeline.ports import ModelAnswer, ModelUnavailable
from ieim.pipeline.work import Answered, NeedsReview, Options
from tests.pipeline.build import TEXT, valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, run
from tests.pipeline.searching import FakeSearch

AHEAD = Options(speculative=True)
LOW = ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]
TRIAGE = ["classify", "extract", "identity_assist"]


class Rounds:
    """Calls that all answer at once, whenever everything waits: ``rounds`` names those of each."""

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []
        self._waiting: list[tuple[Callable[[], Any], Future[Any]]] = []

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        done: Future[Any] = Future()
        self._waiting.append((work, done))
        return done

    def wait(self, pending: Collection[Future[Any]]) -> None:
        waiting, self._waiting = self._waiting, []
        self.rounds.append([work.args[0].contract for work, _ in waiting])  # type: ignore[attr-defined]  # partials
        for work, done in waiting:
            try:
                done.set_result(work())
            except ModelUnavailable as error:
                done.set_exception(error)


def test_the_usual_path_is_two_calls_after_one_another() -> None:
    rounds = Rounds()
    outcome, store = run(ScriptedModel(), options=AHEAD, executor=rounds)
    assert isinstance(outcome, Answered)
    assert [sorted(result) for result in rounds.rounds] == [
        sorted(LOW[:3]),
        sorted(["classify", LOW[3]]),
    ]
    assert store.unused == []


def test_without_it_there_are_four() -> None:
    rounds = Rounds()
    run(ScriptedModel(), executor=rounds)
    assert [len(result) for result in rounds.rounds] == [1, 2, 1, 1]


def test_the_requests_and_the_records_are_the_same_to_the_byte() -> None:
    def told(options: Options) -> object:
        model = ScriptedModel()
        outcome, store = run(model, options=options, executor=Rounds())
        requests = sorted(model.requests, key=lambda request: request.contract)
        records = {name: (r.request, r.judgement, r.number) for name, r in store.records}
        return outcome, requests, records

    assert told(Options()) == told(AHEAD)


def test_an_answer_for_another_result_is_not_used() -> None:
    """The model finds two agencies; asked ahead was the category of one."""
    model = ScriptedModel(high_script())
    outcome, store = run(model, options=AHEAD, executor=Rounds())
    assert isinstance(outcome, Answered)
    assert [name for name, _ in store.unused] == ["category_select_v1"]
    assert isinstance(store.unused[0][1], ModelAnswer)
    assert "category_select_v1" not in [name for name, _ in store.records]


def test_an_answer_that_has_not_come_is_not_waited_for() -> None:
    class Never(Rounds):
        def submit(self, work: Callable[[], Any]) -> Future[Any]:
            if work.args[0].contract == "category_select_v1":  # type: ignore[attr-defined]  # a partial
                return Future()
            return super().submit(work)

    outcome, store = run(ScriptedModel(high_script()), options=AHEAD, executor=Never())
    assert isinstance(outcome, Answered)
    assert store.unused == [("category_select_v1", None)]


def test_a_call_that_failed_costs_nothing_and_is_told() -> None:
    """Two agencies are found, so the category of one was asked in vain; the server refused it."""
    script = {**high_script(), "category_select_v1": [ModelUnavailable("404", passing=False)]}
    outcome, store = run(ScriptedModel(script), options=AHEAD, executor=Rounds())
    assert isinstance(outcome, Answered)
    assert store.unused == []
    assert store.tries == [("category_select_v1", 1)]


def test_in_an_outage_it_is_seen_first_which_other_calls_fail() -> None:
    class Late(Rounds):
        """Calls ahead end a round later than the one of the flow; a pause never does."""

        def submit(self, work: Callable[[], Any]) -> Future[Any]:
            return super().submit(work) if hasattr(work.args[0], "contract") else Future()  # type: ignore[attr-defined]  # a partial

        def wait(self, pending: Collection[Future[Any]]) -> None:
            first, *later = self._waiting
            self._waiting = [first]
            super().wait(pending)
            self._waiting = later

    values = [ModelUnavailable("404", passing=False)]
    model, store = ScriptedModel(dict.fromkeys(LOW, values)), MemoryStore()
    with pytest.raises(ModelUnavailable):
        run(model, store, options=AHEAD, executor=Late())
    assert store.unused == []
    assert [name for name, _ in store.tries] == LOW[:3]


def test_it_is_unused_where_the_message_is_no_inquiry_after_all() -> None:
    answer = valid("judgement_v1")
    fields = {"assistantReply": "What would you like to know?", "nextStep": "session_end"}
    answer.update(judgements={"inquiry": False}, **fields)
    outcome, store = run(
        ScriptedModel({"judgement_v1": [answer]}), options=AHEAD, executor=Rounds()
    )
    assert isinstance(outcome, Answered)
    assert sorted(name for name, _ in store.unused) == ["agency_detect_v1", "category_select_v1"]


TALK = [
    {"role": "user", "text": "How do I replace my passport?"},
    {"role": "assistant", "text": "Replace a passport", "agency": "passports", "service": "x"},
]


@pytest.mark.parametrize("history", [[], TALK], ids=["first", "in a talk"])
@pytest.mark.parametrize("likely", [True, False])
def test_only_a_likely_inquiry_is_asked_ahead(likely: bool, history: list[dict[str, str]]) -> None:
    answer = valid("judgement_v1")
    fields = {"assistantReply": "What would you like to know?", "nextStep": "session_end"}
    answer.update(judgements={"inquiry": False}, **fields)
    rounds, model = Rounds(), ScriptedModel({"judgement_v1": [answer]})
    search = FakeSearch(kinds={"lost passport": "follow_up" if likely else "thanks"})
    run(
        model,
        options=AHEAD,
        executor=rounds,
        shortlist=search,
        text="lost passport",
        history=history,
    )
    assert (rounds.rounds == [["judgement_v1"]]) is not likely


def test_an_inquiry_behind_a_greeting_keeps_its_two_rounds() -> None:
    rounds = Rounds()
    run(ScriptedModel(), options=AHEAD, executor=rounds, text=f"Hello, good morning. {TEXT}")
    assert sorted(rounds.rounds[0]) == sorted(LOW[:3])


def test_an_outage_is_told_of_the_stage_that_needed_the_answer() -> None:
    model = ScriptedModel({"agency_detect_v1": [ModelUnavailable("reset")]})
    outcome, store = run(model, options=AHEAD)
    assert isinstance(outcome, Answered)
    assert store.tries == [("agency_detect_v1", 1)]
    assert model.asked().count(("agency_detect_v1", 1)) == 2


def test_a_resumed_turn_is_asked_nothing_twice() -> None:
    store = MemoryStore()
    first = ScriptedModel({"category_select_v1": [ModelUnavailable("gone", passing=False)] * 2})
    with pytest.raises(ModelUnavailable):
        run(first, store, options=AHEAD)
    second = ScriptedModel()
    outcome, _ = run(second, store, options=AHEAD)
    assert isinstance(outcome, Answered)
    assert [contract for contract, _ in second.asked()] == LOW[2:]


def test_a_second_attempt_is_what_it_would_have_been() -> None:
    model = ScriptedModel({"category_select_v1": ["not json", {}]})
    outcome, _ = run(model, options=AHEAD)
    assert isinstance(outcome, NeedsReview)
    assert model.asked()[-2:] == [("category_select_v1", 1), ("category_select_v1", 2)]


def test_nothing_is_asked_ahead_when_a_budget_is_nearly_used() -> None:
    rounds = Rounds()
    options = replace(AHEAD, budget=Budget(session=60_000))
    outcome, _ = run(ScriptedModel(), options=options, executor=rounds)
    assert isinstance(outcome, Answered)
    assert rounds.rounds[0] == ["judgement_v1"]


def test_calls_under_way_count_until_they_have_cost_what_they_cost() -> None:
    """Room for one call more at a time: each waits for the one before."""
    model, rounds = ScriptedModel(), Rounds()
    run(model)
    largest = max(bound(request) + request.max_output_tokens for request in model.requests)
    options = Options(budget=Budget(session=largest))
    outcome, store = run(ScriptedModel(), options=options, executor=rounds)
    assert isinstance(outcome, Answered)
    assert store.failed == []
    assert {len(result) for result in rounds.rounds} == {1}

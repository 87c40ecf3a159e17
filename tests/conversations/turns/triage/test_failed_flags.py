"""Danger that a model saw in an answer that failed the gate: it counts all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conversations import selectors
from conversations.models import MissingTriage, Stage, Turn
from conversations.states import TurnState
from conversations.turns import running, store, triage
from ieim.llm.openai_client import OpenAIModel
from ieim.pipeline import budget
from ieim.pipeline.budget import Count
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from ieim.pipeline.topology import TRIAGE
from ieim.pipeline.work import AttemptRecord
from review.models import CRISIS, SIGN, ReviewItem
from tests.conversations.turns.triage.test_triage import classified, events, flag
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review.people import browser, person
from tests.selection import sample

QUOTE = "tourist visa"
START = VISA.index(QUOTE)
SELF_HARM = flag("self_harm", QUOTE, 0.99)
LINE = "Listening Line"


def classified_visa(*flags: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return classified(VISA, risk_flags=list(flags), **changes)


def failing(*flags: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that fails for the quote of another label."""
    return classified_visa(*flags, urgency=flag("normal", "never written"))


def lines(turn: Turn) -> str:
    return " ".join(selectors.turn_view(turn.pk).contact_texts)


BROKEN = {
    "a quote that is a paraphrase": classified_visa(flag("self_harm", "wants to die", 0.99)),
    "another label's quote": failing(SELF_HARM),
    "an extra field": {**classified_visa(SELF_HARM), "thoughts": "hm"},
    "an extra field of the flag": classified_visa({**SELF_HARM, "why": "hm"}),
    "a confidence out of range": classified_visa(flag("self_harm", QUOTE, 99)),
    "a confidence as text": classified_visa({**SELF_HARM, "confidence": "0.99"}),
    "no confidence": classified_visa({"label": "self_harm", "evidence_snippets": [QUOTE]}),
    "no quote": classified_visa({"label": "self_harm", "confidence": 0.99}),
    "another flag that is no label": classified_visa(flag("sadness", QUOTE), SELF_HARM),
    "a flag that is only its code": {**classified_visa(), "risk_flags": ["self_harm"]},
    "a fence": f"```json\n{json.dumps(classified_visa(SELF_HARM))}\n```",
    "prose": f"Here you are: {json.dumps(classified_visa(SELF_HARM))} Take care.",
    "single quotes": str(classified_visa(SELF_HARM)),
    "cut off": json.dumps(classified_visa(SELF_HARM))[:-30],
    "a key twice": json.dumps(classified_visa(SELF_HARM))[:-1] + ', "risk_flags": []}',
}


@pytest.mark.parametrize("answer", sample(BROKEN.values(), keep=5), ids=BROKEN)
def test_a_flag_of_an_answer_that_failed_twice_holds_and_shows_help(
    ask: Ask, answer: dict[str, Any] | str
) -> None:
    with scripted_model({"classify": [answer] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    assert LINE in lines(turn)
    assert {(sign["code"], sign["source"]) for sign in turn.risks} == {("self_harm", "model")}
    items = {item.stage: item for item in ReviewItem.objects.all()}
    assert items["reply"].reasons == ["policy.risk"]
    for item in items.values():
        assert item.rank == CRISIS
        assert (item.due_at - item.opened_at).total_seconds() <= 3600
    event = events(turn, "turn.flagged")[0]
    assert (event["risk_flags"], event["attempt"]) == (["self_harm"], 1)
    assert event["failed"]


def test_a_flag_points_at_its_quote_or_else_at_the_whole_message(ask: Ask) -> None:
    answer = failing(SELF_HARM, flag("violence", "somebody hits them"))
    with scripted_model({"classify": [answer] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    assert [(sign["code"], sign["start"], sign["end"]) for sign in turn.risks] == [
        ("self_harm", START, START + len(QUOTE)),
        ("violence", 0, len(VISA)),
    ]


@pytest.mark.parametrize(
    ("value", "state", "stages"),
    [
        (flag("self_harm", "wants to die", 0.3), "answered", {"classify", "reply"}),
        (flag("legal_threat", "sues us", 0.9), "needs_review", {"classify", "reply"}),
        (flag("legal_threat", "sues us", 0.3), "answered", {"classify"}),
        (flag("distress", "is sad", 0.9), "answered", {"classify"}),
        (flag("sadness", "is sad", 0.9), "answered", {"classify"}),
    ],
)
def test_a_flag_of_a_failed_answer_counts_as_strongly_as_one_that_passed(
    ask: Ask, value: dict[str, Any], state: str, stages: set[str]
) -> None:
    with scripted_model({"classify": [failing(value)] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == state
    assert {item.stage for item in ReviewItem.objects.all()} == stages
    assert bool(lines(turn)) is (value["label"] == "self_harm")
    assert {item.rank for item in ReviewItem.objects.filter(stage="reply", rank=SIGN)} == (
        {SIGN} if value["label"] == "self_harm" else set()
    )


def test_help_lines_stand_there_before_the_second_attempt(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = []
    real = store.TurnStore.record

    def record(self: store.TurnStore, stage: str, attempt: AttemptRecord, **ended: bool) -> None:
        real(self, stage, attempt, **ended)
        if stage == "classify":
            states.append(lines(Turn.objects.get()))

    monkeypatch.setattr(store.TurnStore, "record", record)
    with scripted_model({"classify": [failing(SELF_HARM), classified_visa()]}) as (model, _):
        ask(VISA, model=model)
    assert LINE in states[0]


def test_a_flag_that_the_second_attempt_leaves_out_counts_and_is_shown(ask: Ask) -> None:
    with scripted_model({"classify": [failing(SELF_HARM), classified_visa()]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    assert LINE in lines(turn)
    (event,) = events(turn, "triage.left_out")
    assert (event["attempt"], event["risk_flags"]) == (2, ["self_harm"])
    item = ReviewItem.objects.get()
    assert (item.stage, item.rank) == ("reply", CRISIS)
    html = browser(person("eva")).get(f"/review/{item.pk}/").content.decode()
    assert "Attempt 1 flagged “Self-harm or suicide” (confidence 0.99)" in html
    assert "evidence.not_found" in html.split("Attempt 1 flagged")[1].split("</p>")[0]
    assert "The last attempt left it out." in html


def test_a_flag_outlives_the_outage_before_the_second_attempt(ask: Ask) -> None:
    """The person in danger does not wait for the model; the item stands there at once."""
    with scripted_model({"classify": [failing(SELF_HARM), *[503] * 3]}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    item = ReviewItem.objects.get(stage="reply")
    assert (item.rank, set(item.reasons)) == (CRISIS, {"policy.risk", "model.unavailable"})


def test_a_flag_outlives_the_worker_that_read_it(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def die(self: store.TurnStore, *args: Any, **kwargs: Any) -> None:
        raise Killed

    real = OpenAIModel.complete

    def complete(self: OpenAIModel, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        if request.contract == "classify" and request.attempt == 2:
            monkeypatch.setattr(store.TurnStore, "record", die)
        return real(self, request, deadline=deadline)

    monkeypatch.setattr(OpenAIModel, "complete", complete)
    with scripted_model({"classify": [failing(SELF_HARM)]}) as (model, _), pytest.raises(Killed):
        ask(VISA, model=model)
    monkeypatch.undo()
    turn = Turn.objects.get()
    Turn.objects.update(lease=None, leased_until=None, state=TurnState.QUEUED.value)
    with scripted_model({"classify": [classified_visa()]}) as (model, _):
        running.run_turn(turn_id=turn.pk, model=model)
    turn.refresh_from_db()
    assert turn.state == "needs_review"
    assert LINE in lines(turn)


def test_danger_that_is_found_after_the_answer_opens_an_item(ask: Ask) -> None:
    turn = ask("Hello")
    assert turn.state == "answered"
    triage.request(turn_ids=[turn.pk])
    with scripted_model({"classify": [failing(SELF_HARM)] * 2}) as (model, _):
        running.run_triage(turn_id=turn.pk, model=model)
    item = ReviewItem.objects.get(stage="reply")
    assert (item.rank, item.reasons) == (CRISIS, ["citizen.danger"])
    turn.refresh_from_db()
    assert LINE in lines(turn)


def test_who_runs_triage_keeps_it_until_danger_was_looked_for(ask: Ask) -> None:
    """An item that opens at its last stage asks for the triage again, which is complete then."""
    turn = ask("Hello")
    triage.request(turn_ids=[turn.pk])
    claimed = triage.claim(turn_id=turn.pk)
    assert claimed is not None
    for order, stage in enumerate(TRIAGE, start=50):
        Stage.objects.update_or_create(
            turn=turn, contract=stage.id, defaults={"order": order, "status": "needs_review"}
        )
    triage.request(turn_ids=[turn.pk])
    claimed.complete()
    assert not MissingTriage.objects.exists()


@pytest.mark.parametrize("flags", [5, None, {"label": "x"}, [[1], {"label": ["self_harm"]}]])
def test_flags_that_are_none_are_no_error_of_ours(ask: Ask, flags: Any) -> None:
    answers = [{**classified_visa(), "risk_flags": flags}] * 2
    with scripted_model({"classify": answers}) as (model, _):
        turn = ask(VISA, model=model)
    assert (turn.state, turn.risks) == ("answered", [])
    assert turn.runs == 0


def test_the_next_message_of_the_talk_stands_beneath_the_same_help_lines(ask: Ask) -> None:
    with scripted_model({"classify": [failing(SELF_HARM)] * 2}) as (model, _):
        ask(VISA, secret="s", model=model)
    later = ask("How do I renew my passport?", secret="s")
    assert LINE in lines(later)


def test_a_flag_counts_although_a_budget_stopped_its_answer(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = Finding(Code.BUDGET_OUTPUT, "", "Too long.")
    real = budget.after

    def after(count: Count, answer: ModelAnswer) -> list[Finding]:
        return [over] if '"risk_flags"' in answer.raw else list(real(count, answer))

    monkeypatch.setattr(budget, "after", after)
    with scripted_model({"classify": [classified_visa(SELF_HARM)] * 2}) as (model, _):
        turn = ask(VISA, model=model)
    assert turn.state == "needs_review"
    assert LINE in lines(turn)

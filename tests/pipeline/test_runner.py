"""The runner: order, branches, attempts, resuming."""

from __future__ import annotations

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.ports import ModelAnswer, ModelUnavailable
from ieim.pipeline.work import Answered, NeedsReview
from tests.pipeline.build import REPLACE, valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, payload, run

LOW = ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]
HIGH = [
    "judgement_v1",
    "agency_detect_v1",
    "semantic_analysis_v1",
    "service_select_v1",
    "multi_agency_service_answer_v1",
]


def test_it_answers_on_the_low_branch_from_the_index() -> None:
    model = ScriptedModel()
    outcome, _ = run(model)
    assert model.asked() == [(stage, 1) for stage in LOW]
    assert isinstance(outcome, Answered)
    assert outcome.reply.title == REPLACE.name
    assert [source.service_key for source in outcome.reply.sources] == [REPLACE.key]


def test_it_answers_on_the_high_branch_with_every_source() -> None:
    model = ScriptedModel(high_script())
    outcome, _ = run(model)
    assert model.asked() == [(stage, 1) for stage in HIGH]
    assert isinstance(outcome, Answered)
    assert {source.agency_id for source in outcome.reply.sources} == {"passports", "parks"}


def test_it_ends_after_the_judgement_when_it_is_no_inquiry() -> None:
    answer = valid("judgement_v1")
    answer.update(
        judgements={"inquiry": False},
        assistantReply="You can ask here about public services.",
        nextStep="session_end",
    )
    model = ScriptedModel({"judgement_v1": [answer]})
    outcome, _ = run(model)
    assert model.asked() == [("judgement_v1", 1)]
    assert isinstance(outcome, Answered)
    assert outcome.reply.kind == "guidance"
    assert outcome.reply.as_text().startswith("It is not clear yet what you need.")


def test_it_stops_at_the_stage_that_fails_closed() -> None:
    model = ScriptedModel({"category_select_v1": ["not json", {}]})
    outcome, store = run(model)
    assert isinstance(outcome, NeedsReview)
    assert outcome.stage == "category_select_v1"
    assert store.failed == ["category_select_v1"]
    assert model.asked()[-2:] == [("category_select_v1", 1), ("category_select_v1", 2)]


def test_it_never_asks_again_for_a_stage_that_passed() -> None:
    store = MemoryStore()
    first = ScriptedModel({"category_select_v1": [ModelUnavailable("gone", passing=False)]})
    with pytest.raises(ModelUnavailable):
        run(first, store)
    second = ScriptedModel()
    outcome, _ = run(second, store)
    assert isinstance(outcome, Answered)
    assert [contract for contract, _ in second.asked()] == LOW[2:]


def test_it_goes_on_with_the_second_attempt_when_the_first_is_stored() -> None:
    store = MemoryStore()
    first = ScriptedModel({"category_select_v1": ["{}", ModelUnavailable("gone", passing=False)]})
    with pytest.raises(ModelUnavailable):
        run(first, store)
    second = ScriptedModel()
    run(second, store)
    assert second.asked()[0] == ("category_select_v1", 2)
    assert payload(second.flow[0])["previous_findings"]


def test_a_broken_call_is_tried_again_twice_and_is_no_attempt() -> None:
    broken = [ModelUnavailable("reset"), ModelUnavailable("503", retry_after=4.0)]
    model = ScriptedModel({"agency_detect_v1": broken})
    outcome, store = run(model)
    assert isinstance(outcome, Answered)
    assert model.asked()[1:4] == [("agency_detect_v1", 1)] * 3
    assert store.tries == [("agency_detect_v1", 1), ("agency_detect_v1", 2)]
    assert model.pauses == [1.0, 4.0]


def test_it_gives_up_after_three_tries() -> None:
    store = MemoryStore()
    model = ScriptedModel({"judgement_v1": [ModelUnavailable("reset")] * 5})
    with pytest.raises(ModelUnavailable):
        run(model, store)
    assert len(model.flow) == 3
    assert store.done("judgement_v1") is None


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("401", passing=False), ModelUnavailable("429", retry_after=6.0)],
    ids=["a wrong key", "longer than a worker waits"],
)
def test_it_does_not_wait_in_vain(error: ModelUnavailable) -> None:
    model = ScriptedModel({"judgement_v1": [error]})
    with pytest.raises(ModelUnavailable):
        run(model)
    assert len(model.flow) == 1
    assert model.pauses == []


def test_it_gives_each_stage_a_fresh_response_id() -> None:
    model = ScriptedModel()
    run(model)
    ids = [payload(request)["request_id"] for request in model.flow[1:]]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "refused", [ModelAnswer("", refusal="No"), ModelAnswer("", finish_reason="content_filter")]
)
def test_a_refusal_is_final(refused: ModelAnswer) -> None:
    model = ScriptedModel({"judgement_v1": [refused]})
    outcome, _ = run(model)
    assert isinstance(outcome, NeedsReview)
    assert [finding.code for finding in outcome.findings] == [Code.MODEL_REFUSAL]
    assert len(model.flow) == 1

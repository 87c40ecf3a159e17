"""An agency in which nothing fits is not answered, the citizen is told, and the rest goes on."""

from __future__ import annotations

from typing import Any

from ieim.pipeline.findings import Code
from ieim.pipeline.ports import ModelRequest
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.work import Abstained, Answered, NeedsReview
from tests.pipeline.build import valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, payload, run

ANALYSIS = "semantic_analysis_v1"
ANSWER = "multi_agency_service_answer_v1"
WEAK = {"rooms": {"value": "Rooms and pavilions", "score": 0.3}}


def analysis(attempt: int, candidates: dict[str, Any]) -> dict[str, Any]:
    """Return an analysis with these candidates at the second agency."""
    result = valid(ANALYSIS)
    result["semanticAnalysis"]["agencies"][1]["categorySelection"]["candidates"] = candidates
    result["response_id"] = f"own-{attempt}"
    result["telemetry"]["notes"] = None if attempt == 1 else "left it out"
    return result


def answered(*analyses: dict[str, Any]) -> tuple[Reply, MemoryStore, ModelRequest]:
    one = valid(ANSWER)
    one.update(assistantReply="Passport Office: Report the loss.", response_id="own-answer")
    del one["sourcesUsed"][1]
    model = ScriptedModel({**high_script(), ANALYSIS: analyses, ANSWER: [one]})
    outcome, store = run(model)
    assert isinstance(outcome, Answered)
    return outcome.reply, store, model.flow[-1]


def test_the_rest_goes_on_without_it() -> None:
    reply, _, request = answered(analysis(1, {}))
    assert [card.source.agency_id for card in reply.cards] == ["passports"]
    assert reply.unanswered == ("Parks Office",)
    assert Reply.from_dict(reply.as_dict()) == reply
    sent = payload(request)
    assert [agency["agencyId"] for agency in sent["agencies"]] == ["passports"]
    assert {slot["agencyId"] for slot in sent["service_index"]} == {"passports"}


def test_a_score_under_the_minimum_fails_the_stage_as_it_does_with_one_agency() -> None:
    reply, store, _ = answered(analysis(1, WEAK), analysis(2, {}))
    assert codes(store) == [[Code.SCORE_MINIMUM], []]
    assert reply.unanswered == ("Parks Office",)
    # No software leaves a candidate out: twice is a failed stage.
    script = {**high_script(), ANALYSIS: [analysis(1, WEAK), analysis(2, WEAK)]}
    outcome, store = run(ScriptedModel(script))
    assert isinstance(outcome, NeedsReview)
    assert (outcome.stage, codes(store)) == (ANALYSIS, [[Code.SCORE_MINIMUM]] * 2)


def codes(store: MemoryStore) -> list[list[Code]]:
    records = [record for name, record in store.records if name == ANALYSIS]
    return [[finding.code for finding in record.judgement.findings] for record in records]


def test_where_every_score_is_under_the_minimum_it_abstains_at_once() -> None:
    unsure = analysis(1, WEAK)
    for entry in unsure["semanticAnalysis"]["agencies"]:
        for candidate in entry["categorySelection"]["candidates"].values():
            candidate["score"] = 0.2
    outcome, store = run(ScriptedModel({**high_script(), ANALYSIS: [unsure]}))
    assert isinstance(outcome, Abstained)
    assert codes(store) == [[Code.SCORE_MINIMUM] * 2]

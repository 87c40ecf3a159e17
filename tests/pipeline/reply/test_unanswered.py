"""An agency in which nothing fits is not answered, the citizen is told, and the rest goes on."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.ports import ModelRequest
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.work import Answered
from tests.pipeline.build import valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, payload, run

ANALYSIS = "semantic_analysis_v1"
ANSWER = "multi_agency_service_answer_v1"
WEAK = {"rooms": {"value": "Rooms and pavilions", "score": 0.3}}


def analysis(attempt: int, candidates: dict[str, Any]) -> dict[str, Any]:
    """Return an analysis with these candidates at the second agency."""
    said = valid(ANALYSIS)
    said["semanticAnalysis"]["agencies"][1]["categorySelection"]["candidates"] = candidates
    said["response_id"] = f"own-{attempt}"
    said["telemetry"]["notes"] = None if attempt == 1 else "left it out"
    return said


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


@pytest.mark.parametrize("second", [{}, WEAK])
def test_an_honest_low_score_is_left_out_at_the_second_attempt(second: dict[str, Any]) -> None:
    reply, store, _ = answered(analysis(1, WEAK), analysis(2, second))
    records = [record for name, record in store.records if name == ANALYSIS]
    codes = [[finding.code for finding in record.judgement.findings] for record in records]
    assert codes == [[Code.SCORE_MINIMUM], [Code.SCORE_MINIMUM] if second else []]
    assert reply.unanswered == ("Parks Office",)

"""Every agency that was detected is analysed, cited and about the message (decisions 21 and 24)."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.pipeline.choosing import abstains
from ieim.pipeline.findings import WAIVABLE, Code
from ieim.pipeline.knowledge import Service
from ieim.pipeline.stages import multi_agency_answer, semantic_analysis
from tests.pipeline.build import PAVILION, REPLACE, context, found, judged, valid

ANALYSIS = "semantic_analysis_v1"
ANSWER = "multi_agency_service_answer_v1"


def analysis(passports: tuple[object, ...], parks: tuple[object, ...], primary: str) -> Any:
    """Return an answer whose agencies have candidates of these scores."""
    answer = valid(ANALYSIS)
    result = answer["semanticAnalysis"]
    for entry, scores in zip(result["agencies"], (passports, parks), strict=True):
        candidates = entry["categorySelection"]["candidates"]
        by_key = dict(zip(candidates, scores, strict=False))
        entry["categorySelection"]["candidates"] = {
            key: {**candidates[key], "score": score} for key, score in by_key.items()
        }
    result["primaryAgency"]["agencyId"] = primary
    return answer


def test_an_agency_that_is_not_analysed_is_found() -> None:
    answer = valid(ANALYSIS)
    del answer["semanticAnalysis"]["agencies"][1]
    assert (Code.REPLY_UNCOVERED, "/semanticAnalysis/agencies") in found(judged(ANALYSIS, answer))


def test_nothing_need_fit_at_one_agency_but_something_at_any() -> None:
    assert judged(ANALYSIS, analysis((0.9,), (), "passports")).passed
    nothing = judged(ANALYSIS, analysis((), (), "passports"))
    assert found(nothing) == [(Code.AGENCY_COUNT, "/semanticAnalysis/agencies")]
    assert abstains(semantic_analysis.STAGE, nothing.output, nothing.findings)
    # A list that is wrong as well is no honest answer, and is asked again.
    twice = analysis((), (), "passports")
    twice["semanticAnalysis"]["agencies"].append(twice["semanticAnalysis"]["agencies"][0])
    wrong = judged(ANALYSIS, twice)
    assert not abstains(semantic_analysis.STAGE, wrong.output, wrong.findings)


def test_only_an_agency_in_which_something_fits_needs_a_source() -> None:
    state = context(ANSWER).cached_state
    answer = valid(ANSWER)
    answer["assistantReply"] = "Report the loss first."
    del answer["sourcesUsed"][1]
    parks = state["semantic_analysis_v1"]["agencies"][1]["categorySelection"]
    parks["candidates"] = {}
    assert judged(ANSWER, answer, cached_state=state).passed
    parks["candidates"] = "none"  # what is not analysed in good form is not left out
    assert found(judged(ANSWER, answer, cached_state=state)) == [
        (Code.REPLY_UNCOVERED, "/sourcesUsed")
    ]


@pytest.mark.parametrize(
    ("passports", "parks", "right"),
    [
        ((0.9,), (0.6,), {"passports"}),
        ((0.6,), (0.9,), {"parks"}),
        ((0.7,), (0.7,), {"passports", "parks"}),  # a tie: either may be the primary one
        ((0.9,), (0.90,), {"passports", "parks"}),  # by value
        ((1,), (0.99,), {"passports"}),
    ],
)
def test_the_primary_agency_has_the_highest_sum(
    passports: tuple[object, ...], parks: tuple[object, ...], right: set[str]
) -> None:
    for primary in ("passports", "parks"):
        judgement = judged(ANALYSIS, analysis(passports, parks, primary))
        wrong = [(Code.ROUTE_BRANCH, "/semanticAnalysis/primaryAgency/agencyId")]
        assert found(judgement) == ([] if primary in right else wrong)


def test_sums_are_those_of_all_candidates() -> None:
    entry = {"agencyId": "one", "categorySelection": {"candidates": {}}}
    entry["categorySelection"] = {"candidates": {"a": {"score": 1}, "b": {"score": 1}}}
    other = {"agencyId": "two", "categorySelection": {"candidates": {"c": {"score": 1}}}}
    output = {"semanticAnalysis": {"agencies": [entry, other]}}
    assert semantic_analysis.highest(output) == {"one"}


def test_every_agency_has_a_cited_service() -> None:
    answer = valid(ANSWER)
    answer.update(assistantReply="Report the loss first.")
    del answer["sourcesUsed"][1]
    assert found(judged(ANSWER, answer)) == [(Code.REPLY_UNCOVERED, "/sourcesUsed")]
    assert Code.REPLY_UNCOVERED not in WAIVABLE


def request(*services: Service) -> dict[str, Any]:
    """Return what the last stage was sent: these services."""
    slots = [
        {"agencyId": result.agency, "serviceKey": result.key, "rank": rank}
        for rank, result in enumerate(services, 1)
    ]
    return {"chat_context_summary": [], "service_index": slots, "ranking": {"first": 0.99}}


def test_every_cited_service_was_among_the_candidates() -> None:
    assert judged(ANSWER, valid(ANSWER), request=request(REPLACE, PAVILION)).passed
    judgement = judged(ANSWER, valid(ANSWER), request=request(REPLACE))
    assert found(judgement) == [(Code.ROUTE_SUBJECT, "/sourcesUsed/1/serviceKey")]
    # The citizen is asked then: the model cannot know better.
    assert abstains(multi_agency_answer.STAGE, judgement.output, judgement.findings)


def test_a_person_may_cite_what_the_message_does_not_say() -> None:
    assert judged(ANSWER, valid(ANSWER)).passed

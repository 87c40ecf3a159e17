"""multi_agency_service_answer_v1 of the offline engine: the index's words, only what it cites."""

from __future__ import annotations

from typing import Any

from ieim.llm.engine.answer import compose

PAVILION = {
    "agencyId": "parks",
    "serviceKey": "parks.pavilion",
    "name": "Book a pavilion",
    "path": "https://parks.example/p",
    "overview": "Rent a pavilion for a day. See also Adopt a tree. It holds forty people.",
    "applicability_summary": "",
    "requirements": [],
    "fees": "MRK 20.00",
    "processing_time": "",
    "how_to_apply": [],
    "contact": "",
    "url": "https://parks.example/p",
    "categories": [],
    "rank": 1,
    "score": 20.0,
}
TREE = {**PAVILION, "serviceKey": "parks.tree", "name": "Adopt a tree", "rank": 2, "score": 4.0}
PICKUP = {
    **PAVILION,
    "agencyId": "waste",
    "serviceKey": "waste.pickup",
    "name": "Order a rubbish collection",
    "path": "https://waste.example/r",
    "overview": "We collect rubbish at your door. We come on weekdays.",
    "how_to_apply": ["Call two days ahead.", "Put it outside"],
    "url": "https://waste.example/r",
}
SELECTED = {"parks": "parks.pavilion", "waste": "waste.pickup"}
TEXT = "I want to book a pavilion. How do I order a rubbish collection?"


def composed(
    *services: dict[str, Any],
    text: str = TEXT,
    found: tuple[str, ...] = (),
    primary: str = "parks",
) -> dict[str, Any]:
    """Return the answer over ``services``; those of ``SELECTED`` are the selected ones."""
    return compose(
        {
            "contract": "multi_agency_service_answer_v1",
            "attempt": 2 if found else 1,
            "user_prompt": text,
            "chat_context_summary": [],
            "previous_findings": [{"code": code, "path": ""} for code in found],
            "request_id": "r",
            "agencies": [
                {"agencyId": "parks", "name": "Parks Office"},
                {"agencyId": "waste", "name": "Waste Service"},
            ],
            "service_index": list(services),
            "cached_state": {
                "session_id": "s",
                "agency_detect_v1": {"complexity": "high"},
                "semantic_analysis_v1": {"primaryAgency": {"agencyId": primary}},
                "service_select_v1": {"serviceSelection": {"serviceKey": SELECTED[primary]}},
            },
        }
    )


def test_it_says_what_to_do_first_at_each_agency_and_cites_both() -> None:
    output = composed(PAVILION, PICKUP)
    assert output["assistantReply"].split("\n\n") == [
        "Parks Office: Rent a pavilion for a day.",
        "Waste Service: Call two days ahead.",
    ]
    assert output["sourcesUsed"] == [
        {"agencyId": "parks", "serviceKey": "parks.pavilion", "path": "https://parks.example/p"},
        {"agencyId": "waste", "serviceKey": "waste.pickup", "path": "https://waste.example/r"},
    ]


def test_the_primary_agency_comes_first() -> None:
    output = composed(PAVILION, PICKUP, primary="waste")
    assert [source["agencyId"] for source in output["sourcesUsed"]] == ["waste", "parks"]
    assert output["assistantReply"].startswith("Waste Service: ")


def test_it_leaves_out_sentences_that_name_what_it_does_not_cite() -> None:
    named = {**PAVILION, "overview": "See also Adopt a tree. It holds forty people."}
    reply = composed(named, TREE, PICKUP)["assistantReply"]
    assert reply.startswith("Parks Office: It holds forty people.")
    assert "Adopt a tree" not in reply


def test_it_keeps_to_names_when_the_first_answer_said_too_much() -> None:
    reply = composed(PAVILION, PICKUP, found=("sources.missing",))["assistantReply"]
    assert reply == "Parks Office: Book a pavilion.\n\nWaste Service: Order a rubbish collection."


def test_it_leaves_out_an_agency_without_a_service_that_fits() -> None:
    output = composed(PAVILION, PICKUP, text="I want to book a pavilion. Who paints my fence?")
    assert [source["agencyId"] for source in output["sourcesUsed"]] == ["parks"]
    assert "Waste" not in output["assistantReply"]

"""What a stage is given: enough to choose from, and nothing twice."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from ieim.pipeline.budget import bound
from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import load
from ieim.pipeline.knowledge import CASES, Label, Service
from ieim.pipeline.ports import Query, Ranked, Shortlist
from ieim.pipeline.stages.base import Context, Inputs
from ieim.pipeline.stages.slots import (
    LONGEST_SUMMARY,
    cut,
    cut_at_sentence,
    in_brief,
    service_slot,
)
from ieim.pipeline.stages.triage import LONGEST_MEANING, meaning
from tests.fixtures import demo_bundle
from tests.pipeline.build import CONTRACTS, TODAY, context
from tests.pipeline.drive import payload
from tests.pipeline.searching import FakeSearch
from tests.pipeline.test_portable import asked

LONG = Service("a", "a.b", "Name", "https://a.example", overview="A long story. " * 100)


def test_a_text_is_cut_after_a_word() -> None:
    assert cut("a b c", 5) == "a b c"
    assert cut("aaa bbb ccc", 9) == "aaa bbb…"
    assert cut("a" * 10, 5) == "aaaa…"


def test_a_summary_is_cut_at_a_sentence() -> None:
    assert cut_at_sentence("One. Two words. Three.", 16) == "One. Two words. …"
    assert cut_at_sentence("One. Two.", 16) == "One. Two."
    first = f"A first sentence that is {'very ' * 20}long."
    assert cut_at_sentence(f"{first} Another.", 100) == f"{first} …"
    assert cut_at_sentence("word " * 100, 100) == cut("word " * 100, 100)


def test_who_chooses_is_given_the_beginning_and_who_answers_all() -> None:
    brief = service_slot(Ranked(LONG, 1, 1.0), detail=False)
    assert len(brief["overview"]) <= LONGEST_SUMMARY
    assert brief["overview"].endswith("…")
    assert "applicability_summary" not in brief
    assert service_slot(Ranked(LONG, 1, 1.0), detail=True)["overview"] == LONG.overview


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_stage_is_sent_the_whole_state_first_and_then_what_it_reads_of_it(contract: str) -> None:
    has_session = load(contract).stage.has_session
    whole = payload(asked(contract)).get("cached_state")
    assert whole == (json.loads(dumps(context(contract).cached_state)) if has_session else None)
    short = payload(asked(contract, attempt=2)).get("cached_state", {})
    assert set(short) <= {"session_id", *load(contract).stage.reads}
    for info in short.get("agency_detect_v1", {}).get("agencyInfo", ()):
        assert set(info) == {"agencyId", "name"}


def test_a_state_that_is_not_within_the_budget_is_sent_in_slices() -> None:
    whole = asked("service_select_v1")
    fitted = payload(asked("service_select_v1", limit=bound(whole) - 1))
    assert fitted["cached_state"] == payload(asked("service_select_v1", attempt=2))["cached_state"]
    # And the candidates have what that leaves.
    assert fitted["service_index"] == payload(whole)["service_index"]


FAR = "and when may I vote here?"
"""About citizenship, in no word of its entries."""


def asked_about_far(state: dict[str, Any], shortlist: Shortlist | None = None) -> Inputs:
    """Return the inputs of a stage for :data:`FAR` over the demo."""
    release = demo_bundle().release()
    return Inputs(
        text=FAR,
        today=TODAY,
        history=(),
        context=Context(1, FAR, state, release, {}),
        shortlist=shortlist or FakeSearch(release),
        query=Query(FAR),
        limits={"agencies": 8, "categories": 6, "services": 5},
    )


def offered(agency: str, category: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what category_select_v1 and service_select_v1 are given of an agency of the demo, in
    which this category is selected for :data:`FAR`."""
    detected = {"agencyDetected": [agency], "complexity": "low"}
    selected = {"candidates": {category: {"value": category, "score": Decimal("0.90")}}}
    inputs = asked_about_far({"agency_detect_v1": detected, "category_select_v1": selected})
    stages = (load(name).stage for name in ("category_select_v1", "service_select_v1"))
    first, second = (stage.build_input(inputs) for stage in stages)
    return first, second


@pytest.mark.parametrize(
    ("kind", "far", "texts"),
    [
        ("inquiry", False, {"unclear"}),
        ("correction", False, {"unclear"}),
        ("inquiry", True, set(CASES)),
        ("greeting", False, set(CASES)),
    ],
)
def test_what_may_be_no_inquiry_comes_with_every_text(
    kind: str, far: bool, texts: set[str]
) -> None:
    release = demo_bundle().release()
    odds = {next(iter(release.services)): 0.2 if far else 0.9}
    search = FakeSearch(release, odds=odds, kinds={FAR: kind})
    sent = load("judgement_v1").stage.build_input(asked_about_far({}, search))
    assert sent["guidance"]["texts"].keys() == texts


def test_a_small_dictionary_is_sent_with_all_its_keywords() -> None:
    entries = offered("immigration", "citizenship")[0]["KnowledgeBase_Dictionary"]
    assert [entry["rank"] for entry in entries] == list(range(1, 11))
    categories = demo_bundle().release().categories
    for entry in in_brief(entries[:4]):
        assert entry["keywords"] == list(categories["immigration", entry["key"]].keywords)
    # Of many, only the first of the best.
    many = in_brief([e | {"keywords": ["a"] * 20} for e in entries])
    assert [len(entry.get("keywords", ())) for entry in many] == [3] * 3 + [0] * 7


def test_services_of_the_selected_category_are_offered_wherever_they_rank() -> None:
    index = offered("immigration", "visa-refusals")[1]["service_index"]
    assert "immigration.appeal-visa-refusal" in {entry["serviceKey"] for entry in index}
    assert len(index) <= 7


def test_a_candidate_carries_its_rank_and_nothing_else_of_the_search() -> None:
    sent = {contract: payload(asked(contract)) for contract in CONTRACTS}
    slots = ("agencies", "KnowledgeBase_Dictionary", "service_index")
    candidates = [entry for call in sent.values() for slot in slots for entry in call.get(slot, ())]
    assert any("rank" in candidate for candidate in candidates)
    others = {"score", "meaning", "own", "blank", "categories", "probability"}
    assert all(others.isdisjoint(candidate) for candidate in candidates)
    assert "KnowledgeBase_Dictionary" not in sent["service_select_v1"]


def test_a_code_is_said_to_mean_something_once() -> None:
    assert meaning(Label("i", "passport_number", "Passport number", "It is printed.")) == (
        "It is printed."
    )
    assert meaning(Label("i", "X1", "Passport", "It is printed.")) == "Passport: It is printed."
    assert meaning(Label("i", "passport", "Passport", "Old: or new")) == "Passport: Old: or new"
    assert meaning(Label("i", "passport", "Passport", "")) == "Passport: "
    assert len(meaning(Label("i", "a", "A", "Call us. " * 30))) <= LONGEST_MEANING
    complaint = Label("i", "appeal_complain", "Appeal or complain", "Disagrees.")
    assert meaning(complaint) == "Disagrees."
    crisis = Label("risk_flags", "minor_at_risk", "Child at risk", "Call 112.", effect="escalate")
    assert meaning(crisis) == "Child at risk"

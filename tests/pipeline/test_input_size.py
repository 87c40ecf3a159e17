"""What a stage is given: enough to choose from, and nothing twice."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any
from unittest.mock import Mock

import pytest

from ieim.pipeline.contract import load
from ieim.pipeline.knowledge import CASES, Label, Service
from ieim.pipeline.ports import Likeness, Ranked, Shortlist
from ieim.pipeline.stages.base import Context, Inputs
from ieim.pipeline.stages.slots import LONGEST_SUMMARY, cut, service_slot
from ieim.pipeline.stages.triage import LONGEST_MEANING, meaning
from ieim.search import index_for
from tests.fixtures import demo_bundle
from tests.pipeline.build import CONTRACTS, REPLACE, TODAY
from tests.pipeline.drive import payload
from tests.pipeline.test_portable import asked

LONG = Service("a", "a.b", "Name", "https://a.example", overview="A long story. " * 100)


def test_a_text_is_cut_after_a_word() -> None:
    assert cut("a b c", 5) == "a b c"
    assert cut("aaa bbb ccc", 9) == "aaa bbb…"
    assert cut("a" * 10, 5) == "aaaa…"


def test_who_chooses_is_given_the_beginning_and_who_answers_all() -> None:
    brief = service_slot(Ranked(LONG, 1, 1.0), detail=False)
    assert len(brief["overview"]) <= LONGEST_SUMMARY
    assert brief["overview"].endswith("…")
    assert "applicability_summary" not in brief
    assert service_slot(Ranked(LONG, 1, 1.0), detail=True)["overview"] == LONG.overview


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_stage_is_sent_what_it_reads_of_the_state(contract: str) -> None:
    state: dict[str, Any] = payload(asked(contract)).get("cached_state", {})
    assert set(state) <= {"session_id", *load(contract).stage.reads}


def test_the_dictionary_of_a_service_is_that_of_the_candidates() -> None:
    sent = payload(asked("service_select_v1", reads_hints=True))
    under = {key for service in sent["service_index"] for key in service["categories"]}
    assert {entry["key"] for entry in sent["KnowledgeBase_Dictionary"]} == under
    assert under == set(REPLACE.categories)


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
        shortlist=shortlist or index_for(release),
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


@pytest.mark.parametrize(("like", "texts"), [(0.4, {"unclear"}), (-0.2, set(CASES))])
def test_what_may_be_no_inquiry_comes_with_every_text(like: float, texts: set[str]) -> None:
    shortlist = Mock(index_for(demo_bundle().release()))
    shortlist.case.return_value = "unclear"
    shortlist.likeness.return_value = Likeness(like, -0.38, 0.5)
    sent = load("judgement_v1").stage.build_input(asked_about_far({}, shortlist))
    assert sent["guidance"]["texts"].keys() == texts
    # And says which of them it seems to be only there.
    assert ("case" in sent["guidance"]) is (like < 0)


def test_a_small_agency_has_all_its_categories_offered_the_later_ones_briefly() -> None:
    entries = offered("immigration", "citizenship")[0]["KnowledgeBase_Dictionary"]
    assert [entry["rank"] for entry in entries] == list(range(1, 11))
    assert ["keywords" in entry for entry in entries] == [True] * 6 + [False] * 4


def test_services_of_the_selected_category_are_offered_wherever_they_rank() -> None:
    index = offered("immigration", "visa-refusals")[1]["service_index"]
    assert "immigration.appeal-visa-refusal" in {each["serviceKey"] for each in index}
    assert len(index) <= 7


def test_a_language_model_is_not_given_what_only_a_rule_engine_needs() -> None:
    sent = {contract: payload(asked(contract)) for contract in CONTRACTS}
    assert all("likeness" not in each and "search_hints" not in each for each in sent.values())
    assert all("rank" in each for each in sent["agency_detect_v1"]["agencies"])
    assert "KnowledgeBase_Dictionary" not in sent["service_select_v1"]
    services = {each["serviceKey"]: each for each in sent["service_select_v1"]["service_index"]}
    assert all("categories" not in each for each in services.values())
    assert services[REPLACE.key]["blank"] == ["processing_time", "contact"]
    only_named = replace(REPLACE, overview=REPLACE.name)
    assert "overview" in service_slot(Ranked(only_named, 1, 1.0), detail=False)["blank"]


def test_a_code_is_said_to_mean_something_once() -> None:
    assert meaning(Label("i", "passport_number", "Passport number", "It is printed.")) == (
        "It is printed."
    )
    assert meaning(Label("i", "X1", "Passport", "It is printed.")) == "Passport: It is printed."
    assert meaning(Label("i", "passport", "Passport", "Old: or new")) == "Passport: Old: or new"
    assert meaning(Label("i", "passport", "Passport", "")) == "Passport: "
    assert len(meaning(Label("i", "a", "A", "Call us. " * 30))) <= LONGEST_MEANING
    complaint = Label("i", "appeal_complain", "Appeal or complain", "Disagrees.")
    assert meaning(complaint, brief=True) == "Disagrees."
    crisis = Label("risk_flags", "minor_at_risk", "Child at risk", "Call 112.", effect="escalate")
    assert meaning(crisis, brief=True) == "Child at risk"


@pytest.mark.parametrize("contract", ["category_select_v1", "service_select_v1"])
def test_an_agency_that_was_found_is_not_described_again(contract: str) -> None:
    (info,) = payload(asked(contract))["cached_state"]["agency_detect_v1"]["agencyInfo"]
    assert set(info) == {"agencyId", "name"}

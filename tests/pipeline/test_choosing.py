"""Abstaining and asking back: an honest "I do not know" is final, and what can be chosen then."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from ieim.pipeline import contract as contracts
from ieim.pipeline.choosing import NotOffered, offers, results
from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import MINIMUM_SCORE
from ieim.pipeline.knowledge import Service
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.reply.cards import SECTIONS
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.runner import compose
from ieim.pipeline.stages.base import Context, Output
from ieim.pipeline.topology import STAGES
from ieim.pipeline.work import Abstained, Answered, NeedsReview
from tests.pipeline.build import PAVILION, RELEASE, RENEW, REPLACE, RETURN, state, valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, payload, run
from tests.pipeline.searching import FakeSearch


def unsure(score: float = 0.2) -> dict[str, Any]:
    """An answer of service_select_v1 that honestly does not know."""
    answer = valid("service_select_v1")
    answer["serviceSelection"]["score"] = score
    return answer


def nobody() -> dict[str, Any]:
    """An answer of agency_detect_v1 that found no agency."""
    answer = valid("agency_detect_v1")
    answer["judgements"].update(agencyDetected=[], agencyInfo=[], agencyCount=0)
    answer["nextStep"] = "session_end"
    return answer


KEY = {service: (service.agency, service.key) for service in (RENEW, REPLACE, PAVILION, RETURN)}


def context(cached: dict[str, Any] | None = None) -> Context:
    return Context(1, "renew or replace?", cached or state(), RELEASE)


@pytest.mark.parametrize("turn", [{"in_danger": True}, {"risks": [Risk("fraud", 0, 2)]}])
def test_nobody_in_danger_is_asked_to_choose(turn: dict[str, Any]) -> None:
    outcome, _ = run(ScriptedModel({"service_select_v1": [unsure()]}), **turn)
    assert isinstance(outcome, NeedsReview)


def test_no_agency_is_final_and_offers_services() -> None:
    model = ScriptedModel({"agency_detect_v1": [nobody()]})
    odds = {KEY[REPLACE]: 0.85, KEY[RENEW]: 0.1}
    outcome, _ = run(model, shortlist=FakeSearch(odds=odds))
    assert model.asked()[-1] == ("agency_detect_v1", 1)
    assert isinstance(outcome, Abstained)
    assert set(outcome.offered) >= {REPLACE, RENEW}


def test_one_low_score_among_good_ones_is_asked_again() -> None:
    answer = valid("category_select_v1")
    answer["categorySelection"]["candidates"]["new"] = {"value": "New passports", "score": 0.2}
    model = ScriptedModel({"category_select_v1": [answer]})
    outcome, _ = run(model)
    assert ("category_select_v1", 2) in model.asked()
    assert isinstance(outcome, Answered)


def test_a_low_score_with_another_fault_is_no_abstention() -> None:
    answer = unsure()
    answer["serviceSelection"]["score"] = 0.205
    model = ScriptedModel({"service_select_v1": [answer]})
    outcome, _ = run(model)
    assert ("service_select_v1", 2) in model.asked()
    assert isinstance(outcome, Answered)


def test_a_list_that_contradicts_itself_is_no_abstention() -> None:
    answer = nobody()
    answer["judgements"]["agencyCount"] = 2
    model = ScriptedModel({"agency_detect_v1": [answer]})
    run(model)
    assert ("agency_detect_v1", 2) in model.asked()


def test_a_resumed_turn_offers_the_same_and_asks_nothing() -> None:
    store = MemoryStore()
    first, _ = run(ScriptedModel({"service_select_v1": [unsure()]}), store)
    again = ScriptedModel()
    second, _ = run(again, store)
    assert again.requests == []
    assert first == second


def test_a_risk_that_triage_sees_counts_as_well() -> None:
    classified = valid("classify")
    classified["risk_flags"] = [
        {"label": "fraud", "confidence": 0.9, "evidence_snippets": ["was stolen"]}
    ]
    script = {"service_select_v1": [unsure()], "classify": [classified]}
    outcome, _ = run(ScriptedModel(script))
    assert isinstance(outcome, NeedsReview)


def test_nothing_is_offered_where_there_is_nothing_to_choose() -> None:
    assert offers([RETURN], None, context()) == ()
    assert offers([], unsure(), context()) == ()


def test_at_most_four_each_once() -> None:
    result = offers([RENEW, REPLACE, RETURN, PAVILION, RENEW], unsure(), context())
    assert result == (REPLACE, RENEW, RETURN, PAVILION)


def test_what_no_gate_would_pass_is_not_offered() -> None:
    silent = {k: v for k, v in RELEASE.categories.items() if k[0] != "tax"}
    where = replace(context(), release=replace(RELEASE, categories=silent))
    with pytest.raises(NotOffered):
        results([RETURN], where)
    assert RETURN not in offers([RENEW, RETURN, PAVILION], None, where)


@pytest.mark.parametrize("service", [REPLACE, RENEW, PAVILION, RETURN])
@pytest.mark.parametrize("branch", ["low", "high"])
def test_every_choice_leads_to_its_reply(service: Any, branch: str) -> None:
    cached = state(branch, "service_select_v1")
    made = results([service], context(cached))
    outputs = {entry.contract: entry.output for entry in made}
    merged: dict[str, Any] = {"session_id": cached["session_id"], "judgement_v1": {"inquiry": True}}
    if "agency_detect_v1" not in outputs:
        merged = cached
    for entry in made:
        merged = {**merged, **entry.state_merge}
    reply = compose(outputs, context(merged), language="")
    assert reply.title == service.name
    assert [source.service_key for source in reply.sources] == [service.key]


def test_what_leads_there_already_stays() -> None:
    assert [result.contract for result in results([RENEW], context())] == ["service_select_v1"]
    made = results([RETURN], context())
    assert [entry.contract for entry in made] == [
        "agency_detect_v1",
        "category_select_v1",
        "service_select_v1",
    ]


def test_a_choice_is_judged_by_the_gate_as_any_answer_is() -> None:
    used = replace(context(), used_response_ids=frozenset({"taken"}))
    with pytest.raises(NotOffered, match=r"response\.reused"):
        results([RENEW], used, lambda: "taken")


# ---- what the message asks stays: the reply of a choice opens with it

FULL = replace(
    RENEW,
    overview="You get a new one.",
    applicability_summary="For every citizen.",
    requirements=("A photo",),
    fees="MRK 45.00",
    processing_time="Two weeks",
    how_to_apply=("Book a visit.",),
    contact="Desk 3",
    categories=("new",),
)


def says(*opens: str, more: Sequence[str] = ()) -> dict[str, Any]:
    """A template that opens with some placeholders."""
    names = ", ".join(f"{{{name}}}" for name in opens)
    placeholders = {name: f"{{{name}}}" for name in ("service_name", *opens, *more)}
    return {"placeholders": placeholders, "rules": names}


def reply_to(service: Service, of_model: Output | None = None, **of_context: Any) -> Reply:
    """The reply that a choice of one service makes."""
    services = {**RELEASE.services, (service.agency, service.key): service}
    where = replace(context(), release=replace(RELEASE, services=services), **of_context)
    made = results([service], where, of_model=of_model)
    merged = {
        **where.cached_state,
        **{k: v for entry in made for k, v in entry.state_merge.items()},
    }
    outputs = {entry.contract: entry.output for entry in made}
    return compose(outputs, replace(where, cached_state=merged), language="")


def opened(reply: Reply) -> list[str]:
    return [section.field for section in reply.sections if not section.folded]


EVERYTHING = [f"service_{name}" for name in SECTIONS]
USUAL = ["overview", "applicability_summary", "requirements", "contact"]


@pytest.mark.parametrize(
    ("of_model", "opens"),
    [
        (says("service_fees", more=EVERYTHING), ["fees"]),
        (
            says("service_processing_time", "service_fees", more=EVERYTHING),
            ["processing_time", "fees"],
        ),
        # A template that names nothing that there is, or all of it, says nothing of what was asked.
        (says("service_name", "entity_date"), USUAL),
        (says(*EVERYTHING), USUAL),
        (None, USUAL),
    ],
)
def test_the_reply_of_a_choice_opens_with_what_was_asked(
    of_model: Output | None, opens: list[str]
) -> None:
    reply = reply_to(FULL, of_model)
    assert opened(reply) == opens
    assert {section.field for section in reply.sections} == set(SECTIONS)
    assert bool(reply.lead) == (opens == USUAL)


def test_what_the_template_leaves_out_is_not_shown() -> None:
    reply = reply_to(FULL, says("service_fees", more=["service_contact"]))
    assert [(s.field, s.folded) for s in reply.sections] == [("fees", False), ("contact", True)]


def test_what_the_chosen_service_has_not_is_left_out() -> None:
    result = says("service_fees", "service_contact", more=["service_url"])
    assert opened(reply_to(replace(FULL, fees=""), result)) == ["contact"]
    without = reply_to(replace(FULL, fees="", contact=""), result)
    assert opened(without) == USUAL[:-1]
    assert len(without.sections) == len(SECTIONS) - 2


def test_an_entity_is_repeated_where_there_is_one() -> None:
    of_model = says("entity_date", "service_fees", more=["category_value"])
    assert opened(reply_to(FULL, of_model)) == ["fees"]
    reply = reply_to(FULL, of_model, entities={"date": "3 May"})
    assert [(s.field, s.items) for s in reply.sections[:1]] == [("entity_date", ("3 May",))]


# ---- several of them

TWO = ("Can I replace a lost passport", "Can I book a pavilion")


def test_several_may_be_chosen_where_several_were_wished() -> None:
    one, _ = run(ScriptedModel({"service_select_v1": [unsure()]}))
    low = ScriptedModel({"service_select_v1": [unsure()]})
    parts, _ = run(low, text=". ".join(TWO), shortlist=FakeSearch(parts=TWO))
    high, _ = run(ScriptedModel({**high_script(), "service_select_v1": [unsure()]}))
    outcomes = [one, parts, high]
    assert all(isinstance(outcome, Abstained) for outcome in outcomes)
    assert [outcome.several for outcome in outcomes if isinstance(outcome, Abstained)] == [
        *(False, True, True)
    ]


def test_of_several_requests_each_has_its_services_offered() -> None:
    model = ScriptedModel({"agency_detect_v1": [nobody()]})
    outcome, _ = run(model, text=". ".join(TWO), shortlist=FakeSearch(parts=TWO))
    assert isinstance(outcome, Abstained)
    assert set(outcome.offered[:2]) == {REPLACE, PAVILION}


@pytest.mark.parametrize(
    ("odds", "offered"),
    [
        ((0.4, 0.3, 0.2, 0.05), 4),
        ((0.4, 0.3, 0.2, 0.01), 3),
        ((0.9, 0.02, 0.01, 0.01), 2),  # what comes next, so that there is something to choose
        ((0.02, 0.02, 0.02, 0.02), 0),
    ],
)
def test_what_is_likely_enough_is_offered(odds: tuple[float, ...], offered: int) -> None:
    search = FakeSearch(odds=dict(zip(KEY.values(), odds, strict=True)))
    answer = unsure()
    answer["serviceSelection"] |= {"serviceKey": RENEW.key, "name": RENEW.name, "path": RENEW.path}
    outcome, _ = run(ScriptedModel({"service_select_v1": [answer]}), shortlist=search)
    if not offered:
        assert isinstance(outcome, Answered)
        assert outcome.reply.kind == "outside"
    else:
        assert isinstance(outcome, Abstained)
        assert outcome.offered == tuple(KEY)[:offered]


def test_a_model_that_names_a_service_for_sure_means_something() -> None:
    search = FakeSearch(odds={KEY[REPLACE]: 0.02, KEY[RENEW]: 0.01})
    sure, _ = run(ScriptedModel({"service_select_v1": [unsure(0.8)]}), shortlist=search)
    assert isinstance(sure, Answered)
    assert sure.reply.kind == "service"
    none, _ = run(ScriptedModel({"agency_detect_v1": [nobody()]}), shortlist=search)
    assert isinstance(none, Answered)
    assert none.reply.kind == "outside"


def test_services_of_the_topics_that_a_stage_named_are_offered() -> None:
    answer = valid("semantic_analysis_v1")
    for agency in answer["semanticAnalysis"]["agencies"]:
        for entry in agency["categorySelection"]["candidates"].values():
            entry["score"] = 0.3
    rooms = replace(PAVILION, categories=("rooms",))
    services = {**RELEASE.services, KEY[PAVILION]: rooms}
    release = replace(RELEASE, sha256="d" * 64, services=services)
    model = ScriptedModel({**high_script(), "semantic_analysis_v1": [answer]})
    outcome, _ = run(model, text="renew passport, tax return", release=release)
    assert isinstance(outcome, Abstained)
    assert [entry.key for entry in outcome.offered[:2]] == [REPLACE.key, PAVILION.key]


SEVERAL = [
    combination
    for n in (2, 3, 4)
    for combination in combinations([RENEW, REPLACE, PAVILION, RETURN], n)
]


@pytest.mark.parametrize("services", SEVERAL, ids=lambda s: "-".join(entry.key for entry in s))
@pytest.mark.parametrize("branch", ["low", "high"])
def test_several_lead_to_a_card_each(services: tuple[Service, ...], branch: str) -> None:
    cached = state(branch, "service_select_v1")
    made = results(services, context(cached))
    merged = {k: v for k, v in cached.items() if k in ("session_id", "judgement_v1")}
    if cached["agency_detect_v1"]["agencyDetected"] == [*{service.agency for service in services}]:
        merged = cached
    for entry in made:
        merged = {**merged, **entry.state_merge}
    outputs = {entry.contract: entry.output for entry in made}
    keys = [(service.agency, service.key) for service in services]
    high = len({agency for agency, _ in keys}) > 1
    assert ("multi_agency_service_answer_v1" in outputs) == high
    reply = compose(outputs, context(merged), language="", chosen=keys)
    assert [(card.source.agency_id, card.source.service_key) for card in reply.cards] == keys
    assert [source.service_key for source in reply.sources] == [key for _, key in keys]
    texts = {entry.contract: entry.result for entry in made if entry.result is not None}
    assert texts == ({"multi_agency_service_answer_v1": {"text": ""}} if high else {})


def test_the_cards_go_where_somebody_puts_another_service_in_place() -> None:
    made = results([RENEW, REPLACE], context())
    outputs = {entry.contract: entry.output for entry in made}
    cached = {**state(), **made[-1].state_merge}
    both = compose(outputs, context(cached), language="", chosen=[KEY[RENEW], KEY[REPLACE]])
    assert len(both.cards) == 2
    other = compose(outputs, context(cached), language="", chosen=[KEY[REPLACE], KEY[RENEW]])
    assert (other.kind, other.title) == ("service", RENEW.name)


def test_one_that_no_gate_would_pass_lets_none_of_several_pass() -> None:
    wrong = replace(REPLACE, name="")
    services = {**RELEASE.services, KEY[REPLACE]: wrong}
    where = replace(context(), release=replace(RELEASE, services=services))
    with pytest.raises(NotOffered):
        results([RENEW, REPLACE], where)


# ---- honest scores: nothing tells a model to raise one

SCORED = ["category_select_v1", "semantic_analysis_v1", "service_select_v1"]
_ASKS = re.compile(r"0?\.50?\b(?!\d)|\bhalf\b|\bor more\b|\bat least\s+(?:0|half)|\bminimum of\b")
"""How a text would say what a score must be."""


def lowered(name: str, value: float) -> dict[str, Any]:
    """The valid answer of a stage with every score at ``value``."""
    answer = json.dumps(valid(name))
    lower: dict[str, Any] = json.loads(re.sub(r'"score": [0-9.]+', f'"score": {value}', answer))
    return lower


def instructions(model: ScriptedModel) -> list[str]:
    """Everything that a model was told beside the knowledge and the citizen's words."""
    return [message.content for request in model.flow for message in request.messages[:2]]


def about_scores(text: str) -> list[str]:
    return [line for line in re.split(r"\n|(?<=\.) ", text) if "score" in line]


@pytest.mark.parametrize("name", sorted(STAGES))
def test_no_prompt_says_how_high_a_score_must_be(name: str) -> None:
    contract = contracts.load(name)
    values = [contract.persona, contract.directive, contract.short_directive]
    prose = [line for text in values for line in about_scores(text) if not line.startswith("{")]
    assert [line for line in prose if _ASKS.search(line.partition("gives")[0])] == []


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("value", [0.0, 0.2, 0.49])
def test_a_low_score_is_final_on_the_first_attempt(name: str, value: float) -> None:
    script = high_script() if name == "semantic_analysis_v1" else {}
    model = ScriptedModel({**script, name: [lowered(name, value)]})
    outcome, store = run(model)
    assert isinstance(outcome, Abstained)
    assert 2 <= len(outcome.offered) <= 4
    assert [entry for entry in model.asked() if entry[0] == name] == [(name, 1)]
    assert {finding.code for finding in outcome.findings} == {Code.SCORE_MINIMUM}
    assert name in store.failed


def test_no_second_attempt_says_how_high_a_score_must_be() -> None:
    answer = valid("category_select_v1")
    answer["categorySelection"]["candidates"]["new"] = {"value": "New passports", "score": 0.2}
    model = ScriptedModel({"category_select_v1": [answer]})
    run(model)
    (again,) = [request for request in model.flow if request.attempt == 2]
    findings = payload(again)["previous_findings"]
    assert [(finding["code"], set(finding)) for finding in findings] == [
        ("score.minimum", {"code", "path"})
    ]
    assert str(MINIMUM_SCORE) not in json.dumps(findings)
    assert "`score.minimum`: leave that candidate out" in again.messages[0].content
    assert not [
        line for text in instructions(model) for line in about_scores(text) if "raise a" in line
    ]

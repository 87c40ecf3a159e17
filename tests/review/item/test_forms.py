"""The forms that correct a step: what they make passes the gate that a model's answer must pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.http import QueryDict

from conversations.models import Turn
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.stages.triage import CLASSIFY, EXTRACT, IDENTITY_ASSIST
from ieim.pipeline.topology import STAGES
from review import deciding
from review.deciding import Action
from review.item.base_forms import MAX_WORDS, ActionForm, FormContext
from review.item.correction_forms import CORRECTION_FORMS
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.desk import BABY, BAD, Says, the_item

pytestmark = pytest.mark.usefixtures("published")

TEXT = "I want to extend my tourist visa before 3 March. My case number is AB-123456."
Posted = Mapping[str, str | list[str]]


def wrong_quotes(answer: dict[str, Any]) -> None:
    for element in (
        answer.get("intents", []) or answer.get("entities", []) or answer.get("keys", [])
    ):
        element["evidence_snippets"] = ["words of nobody"]


def stopped(contract: str, says: Says | None = None) -> Turn:
    text = BABY if contract in ("semantic_analysis_v1", "multi_agency_service_answer_v1") else TEXT
    return desk.ask(text, {contract: [says, says] if says else BAD})


def posted(values: Posted) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    return data


def form(turn: Turn, contract: str, values: Posted | None) -> Any:
    stages = {stage.contract: stage for stage in turn.stages.all()}
    context = FormContext(contract, turn, stages)
    made: ActionForm = CORRECTION_FORMS[contract](
        context, None if values is None else posted(values)
    )
    return made


def topics(turn: Turn, contract: str) -> Posted:
    """Return the first topic of each agency, and the first agency as the primary one."""
    groups = form(turn, contract, None).groups
    firsts = [options[0].value for _, _, options in groups]
    return {"topic": firsts, f"score:{firsts[-1]}": "0,75", "primary": groups[0][0]}


def first_service(turn: Turn, contract: str) -> Posted:
    made = form(turn, contract, None)
    return {made.input_name: made.options[0].value}


def service_of_each(turn: Turn, contract: str) -> Posted:
    made = form(turn, contract, None)
    firsts = {option.value.split("/")[1]: option.value for option in reversed(made.options)}
    return {made.input_name: [*firsts.values()]}


def the_names_of(sources: Posted, turn: Turn) -> Posted:
    """Return the sources with an answer that says no more than what they are called."""
    (values,) = sources.values()
    keys = [tuple(value.split("/")[1:]) for value in values]
    services = knowledge.release(turn.release_number).services
    names = " ".join(f"{services[agency, key].name}." for agency, key in keys)
    return {**sources, "answer": f"Here is what you can do first: {names}"}


FILLED: Mapping[str, Callable[[Turn], Posted]] = {
    "judgement_v1": lambda _: {"inquiry": "no", "guidance": "Please ask about a public service."},
    "agency_detect_v1": lambda _: {"agency": ["immigration"]},
    "category_select_v1": lambda turn: topics(turn, "category_select_v1"),
    "semantic_analysis_v1": lambda turn: topics(turn, "semantic_analysis_v1"),
    "service_select_v1": lambda turn: first_service(turn, "service_select_v1"),
    "multi_agency_service_answer_v1": lambda turn: the_names_of(
        service_of_each(turn, "multi_agency_service_answer_v1"), turn
    ),
    "classify": lambda _: {
        "intents-label": ["extend", ""],
        "intents-quote": ["extend my tourist visa", ""],
        "product_line-label": "visas_and_residence",
        "product_line-quote": "tourist visa",
        "urgency-label": "normal",
        "urgency-quote": "before 3 March",
        "risk_flags-label": [""],
        "risk_flags-quote": [""],
    },
    "extract": lambda _: {
        "entities-label": ["date"],
        "entities-value": [""],
        "entities-quote": ["3 March"],
    },
    "identity_assist": lambda _: {
        "keys-label": ["case_reference"],
        "keys-value": ["AB-123456"],
        "keys-quote": ["case number is AB-123456"],
    },
}


@pytest.mark.parametrize("contract", STAGES)
def test_it_chooses_nothing_by_itself_and_passes_the_gate_once_filled_in(contract: str) -> None:
    turn = stopped(contract)
    item = the_item(turn, contract)
    empty = form(turn, contract, {})
    may_be_empty = contract in (EXTRACT.id, IDENTITY_ASSIST.id)
    assert (empty.problems == []) is may_be_empty
    assert all(problem.field and problem.message for problem in empty.problems)
    filled = form(turn, contract, FILLED[contract](turn))
    assert filled.problems == []

    seen = deciding.preview(
        item_id=item.pk,
        actor=desk.person("eva"),
        action=Action.OVERRIDE,
        payload={"stage": contract, "output": filled.payload()},
    )

    assert seen.happens


def test_it_refuses_a_score_that_is_none() -> None:
    turn = stopped("category_select_v1")
    values = dict(topics(turn, "category_select_v1"))
    name = next(name for name in values if name.startswith("score:"))
    for score in ("0.49", "1.01", "x", "NaN", "1e5"):
        (problem,) = form(turn, "category_select_v1", {**values, name: score}).problems
        assert "0.50 to 1.00" in problem.message
        assert re.fullmatch(r"topic-\d+-0-score", problem.field)


def test_it_says_what_was_never_offered() -> None:
    turn = stopped("agency_detect_v1")
    made = form(turn, "agency_detect_v1", {"agency": "immigration"})
    options = {option.value: option for option in made.options}
    assert options["immigration"].checked
    assert options["immigration"].offered is True
    assert [option.value for option in made.first + made.others] == list(options)


def test_it_finds_services_by_words_and_keeps_the_chosen_one() -> None:
    turn = stopped("service_select_v1")
    chosen = form(turn, "service_select_v1", None).options[3]
    values = {"service-words": "study", "service": chosen.value}
    options = form(turn, "service_select_v1", values).options
    assert (options[0].value, options[0].checked) == (chosen.value, True)
    assert any("tudent" in option.name for option in options)
    assert all(option.facts for option in options)
    assert form(turn, "service_select_v1", {"service-words": "xyzzy"}).options == []
    long = {"service-words": f"xyzzy{' ' * MAX_WORDS}study"}
    assert form(turn, "service_select_v1", long).options == [], "of very many words the first"


def test_it_fills_in_what_was_right_and_leaves_out_what_was_wrong() -> None:
    turn = stopped(CLASSIFY.id, wrong_quotes)
    intents, line, urgency, _ = form(turn, CLASSIFY.id, None).groups
    assert (intents.rows[0].label, intents.rows[0].quote) == ("", "")
    assert "words of nobody" in intents.rows[0].rejected
    assert line.rows[0].label
    assert urgency.rows[0].quote
    again = form(turn, CLASSIFY.id, {"intents-label": ["renew"], "intents-quote": ["visa"]})
    assert (again.groups[0].rows[0].label, again.groups[0].rows[0].rejected) == (
        "renew",
        intents.rows[0].rejected,
    )


def test_it_asks_for_the_other_half_of_a_row() -> None:
    turn = stopped(IDENTITY_ASSIST.id)
    half = {"keys-label": ["case_reference", ""], "keys-quote": ["", "AB-123456"], "keys-value": []}
    problems = form(turn, IDENTITY_ASSIST.id, half).problems
    assert [problem.field for problem in problems] == ["keys-0-quote", "keys-1-label"]


@pytest.mark.parametrize(
    ("contract", "path", "field"),
    [
        ("judgement_v1", "/assistantReply", "guidance"),
        ("agency_detect_v1", "/judgements/agencyDetected/0", "agency-0"),
        ("service_select_v1", "/serviceSelection/serviceKey", "service-words"),
        ("multi_agency_service_answer_v1", "/sourcesUsed/0/agencyId", "source-words"),
        ("multi_agency_service_answer_v1", "/assistantReply", "answer"),
        ("classify", "/urgency/evidence_snippets/0", "urgency-0-quote"),
        ("extract", "/entities/1/value_redacted", "entities-1-value"),
        ("identity_assist", "/keys/0/key_type", "keys-0-label"),
    ],
)
def test_it_knows_the_field_of_a_finding(contract: str, path: str, field: str) -> None:
    assert form(make_turn(), contract, {}).field_of(path) == field

"""classify, extract and identity_assist of the offline engine, judged by the gate."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from ieim.llm.engine.triage import extract
from ieim.llm.offline import OfflineModel
from ieim.pipeline import contract as contracts
from ieim.pipeline import policy, request
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate
from ieim.pipeline.stages.base import Context, Inputs
from ieim.pipeline.stages.triage import label_elements
from ieim.search import index_for
from tests.llm.offline.turns import DEMO, release
from tests.pipeline.build import TODAY

TEXTS = [
    json.loads(line)["text"]
    for line in (DEMO / "golden.jsonl").read_text(encoding="utf-8").splitlines()
]
KEYS = (
    "My email is jane.doe@example.org and my phone is +44 20 7946 0958. I paid £5 on 3 May 2024, "
    "and my case reference is IMV-48213-7. The shop is at number 7."
)


def judged(contract_id: str, text: str) -> gate.Judgement:
    """Ask the engine and judge its answer, over the demo's labels."""
    context = Context(
        attempt=1,
        user_prompt=text,
        cached_state={"session_id": "s"},
        release=release(),
        labels={name: frozenset(codes) for name, codes in release().labels.items()},
    )
    inputs = Inputs(
        text=text,
        today=TODAY,
        history=(),
        context=context,
        shortlist=index_for(release()),
        limits={},
    )
    contract = contracts.load(contract_id)
    asked = request.build(contract, inputs, request_id="r", temperature=0.0, max_output_tokens=2048)
    return gate.judge(contract, OfflineModel().complete(asked, deadline=1), context)


def output(contract_id: str, text: str) -> dict[str, Any]:
    judgement = judged(contract_id, text)
    assert judgement.passed, judgement.findings
    assert judgement.output is not None
    return judgement.output


@pytest.mark.parametrize("contract_id", ["classify", "extract", "identity_assist"])
def test_it_passes_the_gate_with_every_demo_question(contract_id: str) -> None:
    failed = [text for text in TEXTS if not judged(contract_id, text).passed]
    assert failed == []


def test_it_tells_labels_by_their_names_and_descriptions() -> None:
    found = output("classify", "I want to extend my tourist visa. It is urgent.")
    assert found["primary_intent"] == "extend"
    assert found["product_line"]["label"] == "visas_and_residence"
    assert found["urgency"]["label"] == "high"
    assert found["urgency"]["evidence_snippets"] == ["It is urgent"]
    assert found["risk_flags"] == []


def test_it_raises_a_flag_only_for_its_whole_name() -> None:
    flags = output("classify", "My landlord threatens me. This is fraud!")["risk_flags"]
    assert [flag["label"] for flag in flags] == ["fraud"]
    assert output("classify", "My child needs a passport")["risk_flags"] == []


def test_it_has_no_evidence_in_filler_and_says_so() -> None:
    findings = judged("classify", "and so it is").findings
    assert {finding.code for finding in findings} == {Code.EVIDENCE_MISSING}


def test_it_quotes_long_clauses_at_a_word() -> None:
    snippets = output("classify", "visa extension " * 60)["product_line"]["evidence_snippets"]
    assert 150 < len(snippets[0]) <= 200
    assert snippets[0].endswith(("visa", "extension"))


def test_it_extracts_dates_and_amounts_with_quotes() -> None:
    found = output("extract", KEYS)["entities"]
    assert [(e["entity_type"], e["value_redacted"], e["evidence_snippets"]) for e in found] == [
        ("amount", "£5", ["paid £5"]),
        ("date", "3 May 2024", ["3 May 2024"]),
    ]


def test_it_masks_the_values_of_types_that_are_to_be_masked() -> None:
    types = {"date": "Date: A calendar date. (mask it)", "amount": "Amount of money: A sum."}
    found = extract({"user_prompt": KEYS, "labels": {"entity_types": types}})["entities"]
    assert {each["entity_type"]: each["value_redacted"] for each in found} == {
        "amount": "£5",
        "date": "****",
    }


def test_it_points_at_keys_that_the_message_names() -> None:
    found = output("identity_assist", KEYS)["keys"]
    assert [(key["key_type"], key["key_value"]) for key in found] == [
        ("email", "jane.doe@example.org"),
        ("phone", "+44 20 7946 0958"),
        ("case_reference", "IMV-48213-7"),
    ]


REDACTED = "I am [NAME_1], born [DATE_OF_BIRTH_1]. Write to [EMAIL_1] or pay to [IBAN_1]. [EMAIL_1]"


def test_it_takes_what_stands_for_personal_data_as_keys_and_entities() -> None:
    keys = output("identity_assist", REDACTED)["keys"]
    assert [(key["key_type"], key["key_value"], key["evidence_snippets"]) for key in keys] == [
        ("email", "[EMAIL_1]", ["[EMAIL_1]"]),
        ("iban", "[IBAN_1]", ["[IBAN_1]"]),
    ]
    entities = output("extract", REDACTED)["entities"]
    assert [(each["entity_type"], each["value_redacted"]) for each in entities] == [
        ("date_of_birth", "[DATE_OF_BIRTH_1]")
    ]


def test_it_is_never_less_sure_of_a_demo_question_than_its_labels_ask() -> None:
    sets = release().labels
    for text in TEXTS:
        for _, name, element in label_elements(output("classify", text)):
            assert not policy.is_unsure(sets[name][element["label"]], element["confidence"]), text
        for entity in output("extract", text)["entities"]:
            label = sets["entity_types"][entity["entity_type"]]
            assert not policy.is_unsure(label, entity["confidence"]), text


def test_it_says_other_where_labels_tie_or_one_word_is_all() -> None:
    found = output("classify", "I want to renew and cancel it")
    assert (found["primary_intent"], found["intents"][0]["confidence"]) == ("other", Decimal("0.5"))
    assert output("classify", "I read the decision")["primary_intent"] == "other"

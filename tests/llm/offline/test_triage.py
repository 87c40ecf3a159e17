"""classify, extract and identity_assist of the offline engine, judged by the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages.triage import MASK, meaning
from tests.llm.offline.payloads import TRIAGE, answered
from tests.llm.offline.turns import release
from tests.pipeline.build import judged

KEYS = (
    "My email is jane.doe@example.org and my phone is +44 20 7946 0958. I paid £5 on 3 May 2024, "
    "and my case reference is IMV-48213-7. The shop is at number 7."
)
REDACTED = "I am [NAME_1], born [DATE_OF_BIRTH_1]. Write to [EMAIL_1] or pay to [IBAN_1]. [EMAIL_1]"


def judgement_of(contract: str, text: str, knowledge: Release | None = None) -> Any:
    """Ask the engine about ``text`` over the demo's labels and judge its answer."""
    knowledge = knowledge or release()
    labels = {
        name: {
            label.code: meaning(label) + (MASK if label.is_masked else "")
            for label in knowledge.labels[name].values()
        }
        for name in TRIAGE[contract]
    }
    return judged(
        contract,
        answered(contract, user_prompt=text, labels=labels),
        user_prompt=text,
        release=knowledge,
        labels={name: frozenset(codes) for name, codes in labels.items()},
    )


def output(contract: str, text: str, knowledge: Release | None = None) -> dict[str, Any]:
    judgement = judgement_of(contract, text, knowledge)
    assert judgement.findings == ()
    answer: dict[str, Any] = judgement.output
    return answer


def test_it_tells_labels_by_their_names_and_leaves_the_rest_to_the_ordinary_ones() -> None:
    text = "Good morning. My passport was stolen. I fear for my life."
    classified = output("classify", text)
    assert classified["product_line"]["label"] == "passports_and_identity"
    assert classified["product_line"]["evidence_snippets"] == ["My passport was stolen."]
    assert classified["urgency"]["label"] == "normal"
    assert classified["risk_flags"] == []
    assert output("classify", "The kayak is green")["primary_intent"] == "other"


def test_labels_that_tie_are_left_to_the_ordinary_one() -> None:
    assert output("classify", "I want to renew and extend my visa")["primary_intent"] == "other"


def test_it_has_no_evidence_in_filler_and_says_so() -> None:
    codes = {finding.code for finding in judgement_of("classify", "and so it is").findings}
    assert codes == {Code.EVIDENCE_MISSING}


def test_it_quotes_long_sentences_at_a_word() -> None:
    [snippet] = output("classify", "visa extension " * 60)["product_line"]["evidence_snippets"]
    assert 150 < len(snippet) <= 200
    assert snippet.endswith(("visa", "extension"))


def test_it_extracts_dates_and_amounts_with_quotes() -> None:
    entities = output("extract", KEYS)["entities"]
    assert [(e["entity_type"], e["value_redacted"], e["evidence_snippets"]) for e in entities] == [
        ("amount", "£5", ["paid £5"]),
        ("date", "3 May 2024", ["3 May 2024"]),
    ]


def test_it_masks_the_values_of_types_that_are_to_be_masked() -> None:
    labels = release().labels
    types = labels["entity_types"]
    masked = {**types, "date": replace(types["date"], effect="mask")}
    knowledge = replace(release(), labels={**labels, "entity_types": masked})
    entities = output("extract", KEYS, knowledge)["entities"]
    assert {e["entity_type"]: e["value_redacted"] for e in entities} == {
        "amount": "£5",
        "date": "****",
    }


def test_it_points_at_keys_that_the_message_names() -> None:
    keys = output("identity_assist", KEYS)["keys"]
    assert [(key["key_type"], key["key_value"]) for key in keys] == [
        ("email", "jane.doe@example.org"),
        ("phone", "+44 20 7946 0958"),
        ("case_reference", "IMV-48213-7"),
    ]


def test_it_takes_what_stands_for_personal_data_as_keys_and_entities() -> None:
    keys = output("identity_assist", REDACTED)["keys"]
    assert [(key["key_type"], key["key_value"], key["evidence_snippets"]) for key in keys] == [
        ("email", "[EMAIL_1]", ["[EMAIL_1]"]),
        ("iban", "[IBAN_1]", ["[IBAN_1]"]),
    ]
    entities = output("extract", REDACTED)["entities"]
    assert [(e["entity_type"], e["value_redacted"]) for e in entities] == [
        ("date_of_birth", "[DATE_OF_BIRTH_1]")
    ]

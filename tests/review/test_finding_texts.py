from __future__ import annotations

import json

import pytest

from conversations.states import StageStatus
from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import UNKNOWN_FIELD
from ieim.pipeline.topology import STAGES
from ieim.studio.labels import STAGES as WORDS
from review import finding_texts, labels
from review.states import ReviewState


def test_it_has_words_for_every_code_stage_status_and_state() -> None:
    assert set(finding_texts.SENTENCES) == set(Code)
    assert set(WORDS) == {*STAGES, "reply", "person"}
    assert set(labels.STAGE_STATUSES) == set(StageStatus)
    assert set(labels.ITEM_STATES) == set(ReviewState)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["json.syntax"], "The model’s answer was not in the form it must have."),
        (
            ["json.syntax", "json.not_object"],
            "The model’s answer was not in the form it must have.",
        ),
        (
            ["reply.empty", "schema"],
            "The answer says nothing of what its sources say. (1 more reason)",
        ),
        (
            ["reply.empty", "schema", "new.code"],
            "The answer says nothing of what its sources say. (2 more reasons)",
        ),
        (["new.code"], "new.code"),
        ([], "A person has to look at this."),
    ],
)
def test_it_says_the_first_reason_and_how_many_more(codes: list[str], expected: str) -> None:
    assert finding_texts.summary(codes) == expected


SAID = {
    "serviceSelection": {"serviceKey": "passports.renew", "score": 0.41, "name": ""},
    "quotes": ["my cat"],
    "extra": 1,
}


@pytest.mark.parametrize(
    ("code", "path", "message", "expected"),
    [
        (
            "knowledge.unknown",
            "/serviceSelection/serviceKey",
            "",
            "The model named something that is not in the service list: passports.renew.",
        ),
        (
            "score.minimum",
            "/serviceSelection/score",
            "",
            "The model was only 0.41 sure; it takes 0.50.",
        ),
        (
            "evidence.not_found",
            "/quotes/0",
            "",
            "The model quotes “my cat”, which the message does not say.",
        ),
        (
            "schema",
            "/extra",
            UNKNOWN_FIELD,
            "The model’s answer has a part that nobody asked for: “extra”.",
        ),
        (
            "schema",
            "",
            "A field is missing: 'telemetry' is a required property.",
            "A part of the model’s answer is missing: telemetry.",
        ),
        # Nothing that could be said of the value.
        (
            "evidence.not_found",
            "/quotes/7",
            "",
            "The model quotes words that are not in the message.",
        ),
        ("new.code", "", "", "new.code"),
    ],
)
def test_it_says_what_is_wrong_with_what(code: str, path: str, message: str, expected: str) -> None:
    finding = {"code": code, "path": path, "message": message}
    assert finding_texts.explain(finding, json.dumps(SAID)) == expected


def test_it_says_what_stood_in_the_place_of_an_answer() -> None:
    finding = {"code": "json.syntax", "path": "", "message": ""}
    said = finding_texts.explain(finding, "I am sorry, " + "x" * 5000)
    assert "put other words around its answer" in said
    assert "I am sorry" in said
    assert len(said) < 200
    assert "{" not in finding_texts.explain(finding, '```json\n{"session_id": "b32e"}')

"""The gate of an entry that a model drafts from a web page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ieim.pipeline import contract as contracts
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate
from ieim.pipeline.knowledge import Agency, Release
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.stages.base import Context
from ieim.pipeline.work import Options

RELEASE = Release(
    number=1, sha256="", agencies={"port": Agency("port", "Port")}, categories={}, services={}
)
PAGE = {
    "title": "Book a berth",
    "text": "A berth costs €45.00 a night. Decisions take 10 days.\n\nAsk at help@port.example.",
}
REQUEST: dict[str, Any] = {
    "page": PAGE,
    "categories": [{"key": "berths", "value": "Berths"}],
    "languages": ["en"],
}
NAME = {"field": "name", "lines": ["Book a berth"], "quotes": ["Book a berth"]}
FEES = {"field": "fees", "lines": ["€45 a night"], "quotes": ["A berth costs €45.00 a night"]}
RIGHT: dict[str, Any] = {
    "kind": "service",
    "fields": [NAME, FEES],
    "categories": [{"key": "berths", "value": "Berths"}, {"key": "", "value": "Harbours"}],
    "questions": [{"language": "en", "text": "where can i stay with my boat"}],
}


def found(answer: dict[str, Any], text: str = PAGE["text"]) -> list[tuple[Code, str]]:
    request = {**REQUEST, "page": {**PAGE, "text": text}}
    context = Context(1, "", {}, RELEASE, request=request)
    contract = contracts.load("draft_entry_v1")
    judgement = gate.judge(contract, ModelAnswer(json.dumps(answer)), context)
    return [(finding.code, finding.path) for finding in judgement.findings]


def test_what_the_page_says_passes() -> None:
    assert found(RIGHT) == []
    assert found({"kind": "neither", "fields": [], "categories": [], "questions": []}) == []


@pytest.mark.parametrize(
    ("field", "codes"),
    [
        ({**FEES, "lines": ["€54 a night"]}, [(Code.REPLY_UNGROUNDED, "/fields/1/lines")] * 2),
        ({**FEES, "lines": ["$45 a night"]}, [(Code.REPLY_UNGROUNDED, "/fields/1/lines")]),
        (
            {**FEES, "lines": ["€45, pay at pay@port.example"]},
            [(Code.REPLY_UNGROUNDED, "/fields/1/lines")],
        ),
        ({**FEES, "lines": ["Nobody has to pay"]}, [(Code.REPLY_UNGROUNDED, "/fields/1/lines")]),
        ({**FEES, "quotes": []}, [(Code.EVIDENCE_MISSING, "/fields/1/quotes")]),
        (
            {**FEES, "quotes": ["A berth costs €45 a night"]},
            [(Code.EVIDENCE_NOT_FOUND, "/fields/1/quotes/0")],
        ),
        (NAME, [(Code.KNOWLEDGE_UNKNOWN, "/fields/1/field")]),
        ({**FEES, "field": "description"}, [(Code.KNOWLEDGE_UNKNOWN, "/fields/1/field")]),
    ],
)
def test_a_field_says_what_its_quotes_do(
    field: dict[str, Any], codes: list[tuple[Code, str]]
) -> None:
    findings = found({**RIGHT, "fields": [NAME, field]})
    if codes[0][0] is Code.EVIDENCE_MISSING:  # then its figures stand in no quote either
        assert codes[0] in findings
    else:
        assert sorted(set(findings)) == sorted(set(codes))


@pytest.mark.parametrize(
    ("quote", "line", "other"),
    [
        ("Decisions take a while", "A decision takes a while", "Apply by mail"),
        ("Entscheidung nach Prüfung", "Wir entscheiden nach Prüfungen", "Nur online"),
        ("申请将在审核后决定", "决定在审核后", "完全免费办理"),
        ("يُبت في الطلب بعد المراجعة", "بعد مراجعة الطلب", "الخدمة مجانية"),
    ],
)
def test_a_line_keeps_to_the_words_of_its_quotes(quote: str, line: str, other: str) -> None:
    def codes(text: str) -> list[Code]:
        field = {"field": "processing_time", "lines": [text], "quotes": [quote]}
        answer = {**RIGHT, "fields": [NAME, field]}
        return [code for code, _ in found(answer, text=f"{quote}.")]

    assert (codes(line), codes(other)) == ([], [Code.REPLY_UNGROUNDED])


def test_the_name_is_the_page_s_own() -> None:
    name = {**NAME, "lines": ["Berth booking portal"]}
    assert found({**RIGHT, "fields": [name, FEES]}) == [
        (Code.EVIDENCE_NOT_FOUND, "/fields/0/lines")
    ]
    assert found({**RIGHT, "fields": [FEES]}) == [(Code.REPLY_UNCOVERED, "/fields")]


def test_categories_are_those_of_the_dictionary_or_new() -> None:
    unknown, other = {"key": "boats", "value": "Boats"}, {"key": "berths", "value": "Boats"}
    assert found({**RIGHT, "categories": [unknown, other]}) == [
        (Code.KNOWLEDGE_UNKNOWN, "/categories/0/key"),
        (Code.KNOWLEDGE_MISMATCH, "/categories/1/value"),
    ]


def test_what_is_no_service_has_neither_categories_nor_questions() -> None:
    answer = {**RIGHT, "kind": "agency", "fields": [NAME]}
    assert found(answer) == [
        (Code.KNOWLEDGE_UNKNOWN, "/categories"),
        (Code.KNOWLEDGE_UNKNOWN, "/questions"),
    ]


def test_an_entry_has_room_for_its_quotes() -> None:
    option = "max_output_tokens"
    assert Options().of("draft_entry_v1", option) > Options().of("service_select_v1", option)
    shorter = Options(overrides={"draft_entry_v1": {option: 900}})
    assert shorter.of("draft_entry_v1", option) == 900

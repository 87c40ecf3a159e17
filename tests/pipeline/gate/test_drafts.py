"""The gate of what a model drafts for editors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ieim.pipeline import contract as contracts
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate
from ieim.pipeline.knowledge import Agency, Release, Service, Translation
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.stages.base import Context

RELEASE = Release(
    number=1,
    sha256="",
    agencies={
        "port": Agency("port", "Port Authority"),
        "tax": Agency("tax", "Revenue Service"),
    },
    categories={},
    services={("port", "berth"): Service("port", "berth", "Book a berth", fees="MRK 45.00")},
    translations=(Translation("fr", "tax", name="Service des impôts"),),
)
ORIGINAL = ["Pay MRK 45.00 to the Revenue Service.", "Ask at help@port.example."]
RIGHT = ["Payez 45,00 MRK au Service des impôts.", "Écrivez à help@port.example."]


def found(lines: list[str], **extra: Any) -> list[tuple[Code, str]]:
    """What the gate finds of a French draft with these lines."""
    fields = [{"field": "contact", "lines": ORIGINAL}]
    request = {"agency": "port", "service": "berth", "language": "fr", "fields": fields}
    answer = {"fields": [{"field": "contact", "lines": lines}], **extra}
    contract = contracts.load("draft_translation_v1")
    context = Context(1, "", {}, RELEASE, request=request)
    judgement = gate.judge(contract, ModelAnswer(json.dumps(answer)), context)
    return [(finding.code, finding.path) for finding in judgement.findings]


def test_it_lets_a_faithful_translation_through() -> None:
    assert found(RIGHT) == []


@pytest.mark.parametrize(
    ("said", "instead", "codes"),
    [
        ("45,00", "54,00", [Code.REPLY_UNGROUNDED, Code.REPLY_UNCOVERED] * 2),
        ("MRK", "EUR", [Code.REPLY_UNGROUNDED, Code.REPLY_UNCOVERED]),
        ("help@port.example", "aide@port.example", [Code.REPLY_UNGROUNDED, Code.REPLY_UNCOVERED]),
        ("au Service des impôts", "à la caisse", [Code.REPLY_UNCOVERED]),
        ("Écrivez", "Revenue Service: écrivez", []),
        ("Payez", "Book a berth, payez", []),  # the entry itself
    ],
)
def test_figures_addresses_and_names_are_those_of_the_original(
    said: str, instead: str, codes: list[Code]
) -> None:
    lines = [line.replace(said, instead) for line in RIGHT]
    assert sorted(found(lines)) == sorted((code, "/fields/0/lines") for code in codes)


def test_a_name_of_another_is_added() -> None:
    lines = [RIGHT[0], f"{RIGHT[1]} Port Authority, Customs House"]
    assert found(lines) == []  # of the entry's own agency, and one that nobody bears
    fields = [{"field": "contact", "lines": ["Ask us."]}]
    request = {"agency": "port", "service": "berth", "fields": fields}
    answer = {"fields": [{"field": "contact", "lines": ["Ask the Revenue Service."]}]}
    context = Context(1, "", {}, RELEASE, request=request)
    plain = contracts.load("draft_plain_v1")
    (finding,) = gate.judge(plain, ModelAnswer(json.dumps(answer)), context).findings
    assert (finding.code, "Revenue Service" in finding.message) == (Code.SOURCES_UNKNOWN, True)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ([RIGHT[0] + " " + RIGHT[1]], Code.REPLY_UNCOVERED),
        ([*RIGHT, "…"], Code.REPLY_EMPTY),
    ],
)
def test_every_line_is_translated(answer: list[str], code: Code) -> None:
    assert (code, "/fields/0/lines") in found(answer)


def test_it_wants_the_fields_of_the_request_and_no_other() -> None:
    other = {"field": "fees", "lines": ["45"]}
    assert found(RIGHT, fields=[other]) == [
        (Code.KNOWLEDGE_UNKNOWN, "/fields/0/field"),
        (Code.REPLY_UNCOVERED, "/fields"),
    ]
    assert found(RIGHT, notes="x") == [(Code.SCHEMA, "/notes")]

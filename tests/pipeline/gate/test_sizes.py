"""Every list of an answer is bounded, and so is the whole."""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ieim.pipeline.findings import Code
from tests.checks import ROOT
from tests.pipeline.build import found, judged, valid

SCHEMAS = sorted((ROOT / "ieim" / "pipeline" / "contracts").rglob("*.schema.json"))


def unbounded(node: Any, path: str = "") -> Iterator[str]:
    """Yield the places of a schema in which a list or a map may have any number of entries."""
    if isinstance(node, dict):
        if node.get("type") == "array" and "maxItems" not in node:
            yield path
        if isinstance(node.get("additionalProperties"), dict) and "maxProperties" not in node:
            yield path
        for name, child in node.items():
            yield from unbounded(child, f"{path}/{name}")
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from unbounded(child, f"{path}/{number}")


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_list_of_a_contract_has_a_greatest_length(path: Path) -> None:
    assert list(unbounded(json.loads(path.read_text("utf-8")))) == []


def test_thousands_of_quotes_are_refused_before_one_is_located() -> None:
    answer = valid("classify")
    answer["intents"][0]["evidence_snippets"] = [""] * 15_000
    assert found(judged("classify", answer)) == [(Code.SCHEMA, "/intents/0/evidence_snippets")]


def test_an_answer_with_too_long_a_text_is_refused_unread() -> None:
    answer = valid("judgement_v1") | {"assistantReply": "a" * 300_000}
    assert found(judged("judgement_v1", answer)) == [(Code.MODEL_TOO_LARGE, "")]


@pytest.mark.parametrize(
    ("contract", "path"),
    [
        ("judgement_v1", "/assistantReply"),
        ("multi_agency_service_answer_v1", "/assistantReply"),
        ("service_select_v1", "/template/rules"),
    ],
)
def test_a_text_that_no_person_would_read_is_a_fault_of_shape(contract: str, path: str) -> None:
    answer = valid(contract)
    *parents, name = path.strip("/").split("/")
    functools.reduce(operator.getitem, parents, answer)[name] = "a" * 20_001
    assert set(found(judged(contract, answer))) == {(Code.SCHEMA, path)}

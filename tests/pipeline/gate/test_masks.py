"""What identifies a person is masked, of the types that a label set says so of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from ieim.pipeline import contract as contracts
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Label
from ieim.pipeline.ports import Query
from ieim.pipeline.stages.base import Inputs
from tests.pipeline.build import RELEASE, TODAY, context, found, judged
from tests.pipeline.searching import FakeSearch

TYPES = {
    "person_name": Label("entity_types", "person_name", "Name", effect="mask"),
    "document": Label("entity_types", "document", "Document"),
}
ROE = replace(RELEASE, labels={**RELEASE.labels, "entity_types": TYPES})
TEXT = "Hello, I am Jane Roe and lost my passport."


def judged_value(code: str, value: str, snippet: str) -> Any:
    fact = {"entity_type": code, "value_redacted": value, "confidence": 0.9}
    answer = {"entities": [{**fact, "evidence_snippets": [snippet]}]}
    labels = {name: frozenset(codes) for name, codes in ROE.labels.items()}
    return found(judged("extract", answer, user_prompt=TEXT, release=ROE, labels=labels))


@pytest.mark.parametrize("value", ["Jane Roe", "jane  roe", "Roe"])
@pytest.mark.parametrize("snippet", ["Jane Roe", "I am Jane Roe"])
def test_a_value_in_full_is_a_finding(value: str, snippet: str) -> None:
    expected = [(Code.VALUE_UNMASKED, "/entities/0/value_redacted")]
    assert judged_value("person_name", value, snippet) == expected


@pytest.mark.parametrize("value", ["****Roe", "[NAME]", "J*** R**", "****"])
def test_a_masked_value_passes(value: str) -> None:
    assert judged_value("person_name", value, "I am Jane Roe") == []


def test_any_other_type_is_given_as_it_stands() -> None:
    assert judged_value("document", "passport", "passport") == []


def test_the_placeholder_that_redaction_put_in_is_no_value_in_full() -> None:
    labels = {"entity_types": {"date": replace(TYPES["person_name"], code="date")}}
    fact = {"entity_type": "date", "value_redacted": "[EMAIL_1]", "confidence": 0.9}
    answer = {"entities": [{**fact, "evidence_snippets": ["I am [EMAIL_1]"]}]}
    release = replace(RELEASE, labels=labels)
    assert judged("extract", answer, user_prompt="I am [EMAIL_1]", release=release).passed


def test_the_model_is_told_which_types_are_masked() -> None:
    given = Inputs(
        text=TEXT,
        today=TODAY,
        history=[],
        context=context("extract", release=ROE),
        shortlist=FakeSearch(ROE),
        query=Query(TEXT),
        limits={},
    )
    entity_types = contracts.load("extract").stage.build_input(given)["labels"]["entity_types"]
    assert entity_types["person_name"].endswith("(mask it)")
    assert not entity_types["document"].endswith("(mask it)")


@pytest.mark.parametrize("of", ["bundles", "demo"])
def test_the_label_sets_that_come_along_mask_names(of: str) -> None:
    path = Path(settings.BASE_DIR) / "ieim" / "knowledge" / of / "labels.yaml"
    labels = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert [label["code"] for label in labels if label.get("effect") == "mask"] == ["person_name"]

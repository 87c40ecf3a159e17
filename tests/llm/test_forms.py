"""The forms in which schemas are sent, and which of them may be strict."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.llm.capabilities import is_strict, response_format
from ieim.pipeline.contract import Validator, load
from ieim.pipeline.request import portable

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_it_takes_closed_objects_whose_properties_are_all_required() -> None:
    assert is_strict(CLOSED)
    assert is_strict({**CLOSED, "properties": {"a": {"type": "array", "items": CLOSED}}})
    assert is_strict({**CLOSED, "$defs": {"b": CLOSED}, "properties": {"a": {"$ref": "#/$defs/b"}}})


@pytest.mark.parametrize(
    "change",
    [
        {"required": []},
        {"additionalProperties": True},
        {"additionalProperties": {"type": "string"}},
        {"if": {}, "then": {}},
        {"properties": {"a": True}},
        {"properties": {"a": {"type": "string", "minLength": 1}}},
        {"properties": {"a": {"type": "array", "items": {"type": "object"}}}},
        {"properties": {"a": {"type": "object", "additionalProperties": {}}}},
        {"$defs": {"b": {"type": "object"}}},
    ],
)
def test_it_takes_nothing_that_strict_servers_refuse(change: dict[str, Any]) -> None:
    assert not is_strict({**CLOSED, **change})


SCHEMA: dict[str, Any] = {
    **CLOSED,
    "properties": {
        "a": {"type": "string", "maxLength": 5},
        "b": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}},
    },
    "required": ["a", "b"],
}


def test_structured_outputs_are_sent_without_lengths_and_as_strict() -> None:
    sent = response_format("judgement_v1", SCHEMA, "json_schema")["json_schema"]
    assert sent["schema"]["properties"]["a"] == {"type": "string"}
    assert sent["strict"] is True
    assert SCHEMA["properties"]["a"] == {"type": "string", "maxLength": 5}


def test_a_grammar_gets_lengths_and_every_score_by_name() -> None:
    sent = response_format("judgement_v1", SCHEMA, "json_object_schema")
    assert sent["type"] == "json_object"
    assert sent["schema"]["properties"]["a"]["maxLength"] == 5
    validator = Validator(sent["schema"])
    for score in (0, 0.07, 0.5, 0.87, 1):
        assert not list(validator.iter_errors({"a": "x", "b": [score]}))
    for score in (-0.1, 0.875, 1.01, 5):
        assert list(validator.iter_errors({"a": "x", "b": [score]}))


@pytest.mark.parametrize("contract", ["judgement_v1", "agency_detect_v1", "classify"])
def test_contracts_without_open_maps_are_strict(contract: str) -> None:
    schema = portable(load(contract).schema, {})
    assert response_format(contract, schema, "json_schema")["json_schema"]["strict"] is True


def test_a_map_of_any_of_some_keys_is_not_strict() -> None:
    where = ("properties", "categorySelection", "properties", "candidates")
    schema = portable(load("category_select_v1").schema, {where: ["lost", "new"]})
    assert response_format("x", schema, "json_schema")["json_schema"]["strict"] is False

"""Which schemas may be sent as strict."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.llm.strictness import is_strict

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

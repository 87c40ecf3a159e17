"""Whether a JSON Schema may be sent as *strict*.

A server with structured outputs takes only a subset of JSON Schema as strict and refuses the rest:
every object closed and all its properties required, no conditions, no open maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ANNOTATIONS = frozenset({"$schema", "$id", "title", "description"})
_ASSERTIONS = frozenset(
    {
        "$ref",
        "additionalProperties",
        "const",
        "enum",
        "maximum",
        "maxItems",
        "minimum",
        "minItems",
        "required",
        "type",
    }
)
_NESTED_ONE = frozenset({"items"})
_NESTED_MAP = frozenset({"properties", "$defs"})
_KNOWN = _ANNOTATIONS | _ASSERTIONS | _NESTED_ONE | _NESTED_MAP


def is_strict(schema: Any) -> bool:
    """Return whether ``schema`` and everything in it lies within the strict subset."""
    if not isinstance(schema, Mapping) or not _KNOWN.issuperset(schema):
        return False
    properties = schema.get("properties", {})
    if schema.get("type") == "object" or "properties" in schema:
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    nested = [*properties.values(), *schema.get("$defs", {}).values()]
    nested += [schema[name] for name in _NESTED_ONE if name in schema]
    return all(is_strict(child) for child in nested)

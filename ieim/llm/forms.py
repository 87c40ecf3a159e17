"""The forms in which a contract's portable schema is sent, one for each kind of server.

A server with structured outputs takes only a subset of JSON Schema as *strict* and refuses the
rest: every object closed and all its properties required, no open maps, no lengths of texts. A
decoder by grammar takes lengths, but knows no bounds of numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ieim.llm.takes import Format

_ANNOTATIONS = frozenset({"$schema", "$id", "title", "description"})
_UNSTRUCTURED = frozenset({"anyOf", "maxLength"})

_SCORES = tuple(score / 100 for score in range(101))
"""Every score of two decimals."""

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


def response_format(name: str, schema: Mapping[str, Any] | None, form: Format) -> Any:
    """Return the request's ``response_format`` for a contract's schema; None for nothing."""
    if form == "json_object":
        return {"type": "json_object"}
    if form == "none" or schema is None:
        return None
    return _shaped(name, json.dumps(schema), form)


@lru_cache(maxsize=64)
def _shaped(name: str, text: str, form: Format) -> Any:
    """Return it for a schema's JSON: one object for all calls that wait with the same."""
    schema = json.loads(text)
    if form == "json_object_schema":
        return {"type": "json_object", "schema": _for_grammar(schema)}
    # Such a server wants one object at the root, not a choice, and no lengths.
    sent = _each(schema, lambda node: {k: node[k] for k in node if k not in _UNSTRUCTURED})
    inner = {"name": name, "schema": sent, "strict": is_strict(sent)}
    return {"type": "json_schema", "json_schema": inner}


def _for_grammar(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``schema`` with every number from 0 to 1 as one of the scores: a choice of them is the
    only bound of a number that a grammar holds."""

    def bounded(node: dict[str, Any]) -> dict[str, Any]:
        if (node.get("type"), node.get("minimum"), node.get("maximum")) != ("number", 0, 1):
            return node
        return {"$ref": "#/$defs/score"}

    sent = _each(schema, bounded)
    if sent != schema:
        score = {"type": "number", "enum": list(_SCORES)}
        sent["$defs"] = {**sent.get("$defs", {}), "score": score}
    return sent


def _each(
    schema: Mapping[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Return ``schema`` with ``change`` made to it and to every schema in it."""
    node = dict(schema)
    for name in _NESTED_MAP & schema.keys():
        node[name] = {key: _each(child, change) for key, child in schema[name].items()}
    if "anyOf" in schema:
        node["anyOf"] = [_each(child, change) for child in schema["anyOf"]]
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            node[name] = _each(schema[name], change)
    return change(node)

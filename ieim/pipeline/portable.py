"""A contract's schema in the form that is sent to a model server.

Decoders that hold a model to a schema take different parts of JSON Schema and refuse the rest. What
is sent has only what all of them take: types, closed objects, lists, enums, references within the
schema, and the bounds of numbers and texts. Boolean schemas and least sizes are left out, and
conditions become a choice at the root, for those that take one there; the gate judges every answer
by the whole contract (docs/decisions/0026).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Codes = Mapping[tuple[str, ...], Sequence[str]]
"""Where in a schema the runtime's own codes go, as the steps of a path, references followed."""

_KEPT = frozenset({"type", "required", "additionalProperties", "minimum", "maximum", "maxLength"})
_TYPES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def portable(schema: Mapping[str, Any], codes: Codes) -> dict[str, Any]:
    """Return ``schema`` as it is sent, with ``codes`` in it.

    At a text, codes are the texts that may stand there; at an open map they are its keys, and the
    map becomes a closed object of which no key is required. Every answer that the whole gate lets
    through, over the same codes, is valid under it. An empty list of codes changes nothing.
    """
    body = _plain(schema, schema.get("$defs", {}))
    rules = schema.get("allOf", ())
    if rules:
        body["anyOf"] = [_under(body, rule) for rule in rules]
    for where, names in codes.items():
        if names:
            _narrow(body, where, list(dict.fromkeys(names)))
    return body


def _plain(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _plain(defs[schema["$ref"].rpartition("/")[2]], defs)
    plain = {name: value for name, value in schema.items() if name in _KEPT}
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else list(schema["enum"])
        plain |= {"type": _TYPES[type(values[0])], "enum": values}
    if "properties" in schema:
        # A property that may be anything is there for the gate to name; no server is told of it.
        plain["properties"] = {
            name: _plain(child, defs)
            for name, child in schema["properties"].items()
            if not isinstance(child, bool)
        }
    if "items" in schema:
        plain["items"] = _plain(schema["items"], defs)
    if isinstance(schema.get("additionalProperties"), Mapping):
        plain["additionalProperties"] = _plain(schema["additionalProperties"], defs)
    return plain


def _under(body: Mapping[str, Any], rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``body`` for answers that a rule's condition holds for.

    A contract's conditions name one value each, and together all values that there are.
    """
    return _pinned(_pinned(body, rule["if"]), rule["then"])


def _pinned(node: Mapping[str, Any], to: Mapping[str, Any]) -> dict[str, Any]:
    pinned = dict(node) | {name: to[name] for name in ("type",) if name in to}
    if "const" in to:
        pinned |= {"type": _TYPES[type(to["const"])], "enum": [to["const"]]}
    if "properties" in to:
        own = {
            name: _pinned(node["properties"][name], each) for name, each in to["properties"].items()
        }
        pinned["properties"] = {**node["properties"], **own}
    return pinned


def _narrow(body: dict[str, Any], where: tuple[str, ...], names: Sequence[str]) -> None:
    node = body
    for step in where:
        node = node[step]
    child = node.get("additionalProperties")
    if not isinstance(child, Mapping):
        node["enum"] = list(names)
        return
    if "properties" in child:
        # Once in the schema, however many keys there are.
        body.setdefault("$defs", {})[where[-1]] = child
        child = {"$ref": f"#/$defs/{where[-1]}"}
    node |= {
        "properties": {name: dict(child) for name in names},
        "required": [],
        "additionalProperties": False,
    }

"""What a model server supports: the parts of the protocol in which servers differ.

A server with structured outputs takes only a subset of JSON Schema as *strict* and refuses the
rest: every object closed and all its properties required, no open maps, no lengths of texts. A
decoder by grammar takes lengths, but knows no bounds of numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal, get_args

Format = Literal["json_schema", "json_object_schema", "json_object", "none"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
"""How the shape of an answer is sent: as structured outputs; as ``json_object`` with the schema
in it, as llama.cpp's Python server has it; only that it is JSON; not at all."""

MaxTokens = Literal["max_tokens", "max_completion_tokens"]
MAX_TOKENS: Final[tuple[MaxTokens, ...]] = get_args(MaxTokens)

SETTINGS: Final[Mapping[str, str]] = {
    "response_format": "RESPONSE_FORMAT",
    "max_tokens_field": "MAX_TOKENS_FIELD",
    "send_temperature": "SEND_TEMPERATURE",
    "store": "STORE",
    "cache_key": "CACHE_KEY",
}
"""Each field of :class:`Capabilities` by its name in ``settings.IEIM_MODEL``; the environment
variable has ``IEIM_MODEL_`` before it."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Which request a server is sent.

    ``store`` is whether the provider is to keep the request; nothing is sent for None.
    ``cache_key`` is whether calls with the same beginning are named alike (``prompt_cache_key``),
    so that a provider sends them to the machine that remembers it.
    """

    response_format: Format = "json_schema"
    max_tokens_field: MaxTokens = "max_tokens"
    send_temperature: bool = True
    store: bool | None = None
    cache_key: bool = False

    def override(self, changes: Mapping[str, Any]) -> Capabilities:
        """Return this with the fields that ``changes`` has; other keys are ignored."""
        return replace(self, **{name: changes[name] for name in SETTINGS if name in changes})


def configured(config: Mapping[str, Any]) -> Capabilities:
    """Return the capabilities in ``settings.IEIM_MODEL``."""
    return Capabilities(**{field: config[name] for field, name in SETTINGS.items()})


_UNSTRUCTURED = frozenset({"anyOf", "maxLength"})
_NESTED = frozenset({"properties", "$defs"})
_STRICT = _NESTED | {
    *("$schema", "$id", "title", "description", "$ref", "additionalProperties", "const", "enum"),
    *("items", "maximum", "maxItems", "minimum", "minItems", "required", "type"),
}
_SCORES = tuple(score / 100 for score in range(101))
"""Every score of two decimals."""


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


def is_strict(schema: Any) -> bool:
    """Whether ``schema`` and everything in it lies within the strict subset."""
    if not isinstance(schema, Mapping) or not _STRICT.issuperset(schema):
        return False
    properties = schema.get("properties", {})
    if schema.get("type") == "object" or "properties" in schema:
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    nested = [*properties.values(), *schema.get("$defs", {}).values()]
    nested += [schema["items"]] if "items" in schema else []
    return all(is_strict(child) for child in nested)


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
    for name in _NESTED & schema.keys():
        node[name] = {key: _each(child, change) for key, child in schema[name].items()}
    if "anyOf" in schema:
        node["anyOf"] = [_each(child, change) for child in schema["anyOf"]]
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            node[name] = _each(schema[name], change)
    return change(node)

"""What the offline server can be told to refuse, as model servers refuse it: with status 400.

Servers that speak the same protocol take different parts of it. These are the differences that the
settings know of, so that settings and ``manage.py doctor`` are tried on real answers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

Request = Mapping[str, Any]

_CONDITIONS = frozenset({"if", "then", "else", "allOf", "anyOf", "oneOf", "not"})
_LENGTHS = frozenset({"minLength", "maxLength"})


class Refusal(NamedTuple):
    """``description`` is for people; ``refuses`` says whether a request has what is not taken;
    ``param`` is what the error names."""

    description: str
    param: str
    refuses: Callable[[Request], bool]


def refused(request: Request, names: Collection[str]) -> Refusal | None:
    """Return the first of the refusals ``names`` that ``request`` meets."""
    met = (REFUSALS[name] for name in REFUSALS if name in names)
    return next((refusal for refusal in met if refusal.refuses(request)), None)


def _format(request: Request) -> Mapping[str, Any]:
    found = request.get("response_format")
    return found if isinstance(found, Mapping) else {}


def _schema(request: Request) -> Any:
    found = _format(request)
    outer = found.get("json_schema")
    return outer.get("schema") if isinstance(outer, Mapping) else found.get("schema")


def _holds(schema: Any, keywords: Collection[str], *, booleans: bool) -> bool:
    """Whether a schema, or one in it, has one of ``keywords``, or is only true or false."""
    if not isinstance(schema, Mapping):
        return booleans and isinstance(schema, bool)
    if not schema.keys().isdisjoint(keywords):
        return True
    nested = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    nested += [schema["items"]] if "items" in schema else []
    more = schema.get("additionalProperties")
    nested += [more] if isinstance(more, Mapping) else []
    return any(_holds(child, keywords, booleans=booleans) for child in nested)


REFUSALS: Mapping[str, Refusal] = {
    "temperature": Refusal(
        "a temperature", "temperature", lambda request: "temperature" in request
    ),
    "max-tokens": Refusal(
        "max_tokens: it wants max_completion_tokens",
        "max_tokens",
        lambda request: "max_tokens" in request,
    ),
    "max-completion-tokens": Refusal(
        "max_completion_tokens: it wants max_tokens",
        "max_completion_tokens",
        lambda request: "max_completion_tokens" in request,
    ),
    "store": Refusal("store", "store", lambda request: "store" in request),
    "cache-key": Refusal(
        "prompt_cache_key", "prompt_cache_key", lambda request: "prompt_cache_key" in request
    ),
    "json-schema": Refusal(
        "a response format of json_schema",
        "response_format",
        lambda request: _format(request).get("type") == "json_schema",
    ),
    "schema-beside": Refusal(
        "a schema beside json_object",
        "response_format",
        lambda request: "schema" in _format(request),
    ),
    "json-object": Refusal(
        "a response format of json_object",
        "response_format",
        lambda request: _format(request).get("type") == "json_object",
    ),
    "conditions": Refusal(
        "schemas with conditions, or that are only true or false",
        "response_format",
        lambda request: _holds(_schema(request), _CONDITIONS, booleans=True),
    ),
    "lengths": Refusal(
        "schemas with lengths of texts",
        "response_format",
        lambda request: _holds(_schema(request), _LENGTHS, booleans=False),
    ),
}
"""By name, as ``manage.py serve_offline_llm --refuse`` takes it."""

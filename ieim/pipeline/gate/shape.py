"""The schema step: what a JSON Schema validator says, as findings.

Messages never quote the answer, which may hold a citizen's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from ieim.pipeline.findings import Code, Finding, pointer


def findings(
    validator: Draft202012Validator, output: Mapping[str, Any], *, limit: int
) -> Iterable[Finding]:
    """Yield the findings of at most ``limit`` validation errors, ordered by place."""
    errors = islice(validator.iter_errors(output), limit)
    for error in sorted(errors, key=lambda e: [str(part) for part in e.absolute_path]):
        yield from _of_error(error)


_PHRASES: Mapping[str, str] = {
    "type": "has the wrong type; expected {0}",
    "enum": "is not one of the values that the contract lists",
    "const": "is not the value that the contract fixes",
    "minLength": "is empty",
    "maxLength": "is longer than {0} characters",
    "minimum": "is below {0}",
    "maximum": "is above {0}",
    "minItems": "has fewer than {0} items",
    "minProperties": "has no entry",
}


def _of_error(error: ValidationError) -> Iterable[Finding]:
    path = list(error.absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        schema = error.schema if isinstance(error.schema, Mapping) else {}
        for name in sorted(set(error.instance) - set(schema.get("properties", {}))):
            yield Finding(
                Code.SCHEMA, pointer(*path, name), "The contract does not know this field."
            )
        return
    if error.validator == "required" and isinstance(error.instance, dict):
        # One error a missing name: the message is jsonschema's, which quotes only that name.
        yield Finding(Code.SCHEMA, pointer(*path), f"A field is missing: {error.message}.")
        return
    expected = error.validator_value
    if isinstance(expected, list):
        expected = " or ".join(str(item) for item in expected)
    phrase = _PHRASES.get(str(error.validator), "does not fit the contract").format(expected)
    yield Finding(Code.SCHEMA, pointer(*path), f"The value {phrase}.")

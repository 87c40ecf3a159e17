"""Contracts: JSON Schema, prompt and rules under one id, each part hashed.

Schemas are JSON Schema 2020-12 files, prompts are Markdown files, named alike by the contract's id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.validators import extend

from ieim.pipeline.canonical import digest
from ieim.pipeline.stages.base import Stage
from ieim.pipeline.stages.drafting import DRAFTS
from ieim.pipeline.topology import STAGES

_HERE = Path(__file__).parent
_EXAMPLES = "\n## Examples\n"


def _is_integer(_checker: TypeChecker, value: object) -> bool:
    # Numbers are read as Decimal; JSON Schema calls 2.0 an integer.
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


Validator: type[Draft202012Validator] = extend(  # type: ignore[no-untyped-call]  # its stub has no types
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


@dataclass(frozen=True)
class Contract:
    """How a model is asked and what its answer must be.

    ``directive`` is the prompt with its examples, ``short_directive`` without them: attempt 2 is
    sent the short one. Hashes are lower-case hex SHA-256: ``schema_sha256`` over the schema's RFC
    8785 bytes, ``prompt_sha256`` over persona and directive as sent on attempt 1.
    """

    id: str
    stage: Stage
    schema: Mapping[str, Any]
    validator: Draft202012Validator
    persona: str
    directive: str
    short_directive: str
    schema_sha256: str
    prompt_sha256: str


def _read(folder: str, name: str) -> str:
    return (_HERE / folder / name).read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def load(contract_id: str, own_persona: str = "") -> Contract:
    """Return the contract, read and compiled once; KeyError for an id that is none.

    ``own_persona`` is what the administration says of the persona. It stands behind the rules that
    come with the software, in every call the same.
    """
    stage = STAGES.get(contract_id) or DRAFTS[contract_id]
    schema = json.loads(_read("contracts", f"{contract_id}.schema.json"))
    Validator.check_schema(schema)
    persona = _read("prompts", "base_system.md")
    if own_persona:
        persona = f"{persona.rstrip()}\n\n{own_persona}\n"
    directive = _read("prompts", f"{contract_id}.md")
    return Contract(
        id=contract_id,
        stage=stage,
        schema=schema,
        validator=Validator(schema),
        persona=persona,
        directive=directive,
        short_directive=without_examples(directive),
        schema_sha256=digest(schema),
        prompt_sha256=hashlib.sha256(f"{persona}\0{directive}".encode()).hexdigest(),
    )


def without_examples(directive: str) -> str:
    """Return a directive as attempt 2 is sent it."""
    return directive.partition(_EXAMPLES)[0]

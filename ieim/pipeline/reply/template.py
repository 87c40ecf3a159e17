"""The low path's template: placeholders, and what stands behind each.

A placeholder is a key whose value is the key itself in braces. Keys are ``service_<field>`` and
``agency_<field>`` for the fields of a bundle, ``category_value`` and ``entity_<type>``. What is not
among the placeholders is not shown; the tokens in ``rules``, in their order, are those that are
open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Agency, Service
from ieim.pipeline.personal.redaction import PLACEHOLDER

KEYS = (
    *(f"service_{field.name}" for field in fields(Service)),
    *(f"agency_{field.name}" for field in fields(Agency)),
    "category_value",
)
"""The placeholders that a model may name."""

EXTRACT = "extract"
"""The contract of triage that finds entities."""
ENTITY_PREFIX = "entity_"
LONGEST_ENTITY = 60
"""Code points of what is shown again: a name, a date, an amount, and no sentence that a message
dictates."""

_TOKEN = re.compile(r"\{([^{}]+)\}")


def entities_by_type(extracted: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the first value of each type in a gated answer of extract, None for no answer.

    Values are the citizen's own words, or masked; what stands for personal data, and what is too
    long for a value, is left out.
    """
    by_type: dict[str, str] = {}
    for entity in (extracted or {}).get("entities", ()):
        value = entity["value_redacted"]
        if value.strip() and len(value) <= LONGEST_ENTITY and not PLACEHOLDER.search(value):
            by_type.setdefault(entity["entity_type"], value)
    return by_type


def names_entities(raw: str) -> bool:
    """Whether an answer that nobody has judged yet may name an entity."""
    return f'"{ENTITY_PREFIX}' in raw


def resolve(
    placeholders: Mapping[str, Any],
    *,
    service: Service,
    agency: Agency,
    category_value: str | None,
    entities: Mapping[str, str],
) -> dict[str, tuple[str, ...]]:
    """Return the value of each known key of ``placeholders``, in their order.

    A list keeps its items, anything else is one item; an empty field is ``()``. Unknown keys, and
    a category or entity that there is not, are left out.
    """
    values = _values(service, agency, category_value, entities)
    return {key: values[key] for key in placeholders if key in values}


def opening(rules: str) -> tuple[str, ...]:
    """Return the keys that a reply opens with: the tokens of ``rules``, in their order.

    They may stand in a list or in prose; the words around them are not read. Rules without a token
    open nothing, and the reply shows all its placeholders.
    """
    return tuple(dict.fromkeys(match[1].strip() for match in _TOKEN.finditer(rules)))


def check(
    template: Mapping[str, Any],
    *,
    service: Service,
    agency: Agency,
    category_value: str | None,
    entities: Mapping[str, str],
) -> list[Finding]:
    """Return ``template.unresolved`` for every placeholder, and every ``{token}`` in the rules,
    that nothing stands behind, and ``template.unordered`` for rules without any. ``template`` has
    the shape that the schema demands."""
    placeholders = template["placeholders"]
    values = _values(service, agency, category_value, entities)
    faults: list[tuple[tuple[str, ...], str]] = [
        (("template", "placeholders", str(key)), message)
        for key, value in placeholders.items()
        if (message := _fault(key, value, values))
    ]
    faults += [
        (
            ("template", "rules"),
            f"The rules use the token {token[:80]!r}, which is not among the placeholders.",
        )
        for token in opening(template["rules"])
        if token and token not in placeholders
    ]
    findings = [
        Finding(Code.TEMPLATE_UNRESOLVED, pointer(*path), description)
        for path, description in faults
    ]
    if not opening(template["rules"]):
        message = "The rules name no placeholder: the reply shows all in the usual order."
        findings.append(Finding(Code.TEMPLATE_UNORDERED, pointer("template", "rules"), message))
    return findings


def _fault(key: str, value: Any, values: Mapping[str, tuple[str, ...]]) -> str | None:
    if key in values:
        correct = value == f"{{{key}}}"
        return None if correct else f"The value of {key} must be exactly {{{key}}}."
    if key == "category_value":
        return "There is no selected category to put in for category_value."
    if key.startswith(ENTITY_PREFIX):
        return f"There is no accepted entity to put in for {key[:80]!r}."
    return f"There is no placeholder named {key[:80]!r}."


def _values(
    service: Service, agency: Agency, category_value: str | None, entities: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    values = {**dict(_fields("service", service)), **dict(_fields("agency", agency))}
    answers = {f"{ENTITY_PREFIX}{name}": value for name, value in entities.items()}
    if category_value is not None:
        answers["category_value"] = category_value
    # These are the answers of earlier stages: a blank one is none.
    return values | {key: (value,) for key, value in answers.items() if value.strip()}


def _fields(prefix: str, entry: Service | Agency) -> Iterator[tuple[str, tuple[str, ...]]]:
    for field in fields(entry):
        value = getattr(entry, field.name)
        items = (value,) if isinstance(value, str) else tuple(value)
        yield f"{prefix}_{field.name}", tuple(item for item in items if item.strip())

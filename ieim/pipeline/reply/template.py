"""The low path's template: placeholders, and what stands behind each (DESIGN decision 11, §4).

A placeholder is a key whose value is the key itself in braces. Keys are ``service_<field>`` and
``agency_<field>`` for the fields of a bundle, ``category_value`` and ``entity_<type>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Agency, Service

KEYS = (
    *(f"service_{field.name}" for field in fields(Service)),
    *(f"agency_{field.name}" for field in fields(Agency)),
    "category_value",
)
"""The placeholders that a model may name."""

_TOKEN = re.compile(r"\{([^{}]+)\}")


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
    known = _known(service, agency, category_value, entities)
    return {key: known[key] for key in placeholders if key in known}


def opening(rules: str) -> tuple[str, ...]:
    """Return the keys that a reply opens with: the tokens of ``rules``, in their order."""
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
    that nothing stands behind. ``template`` has the shape that the schema demands."""
    placeholders = template["placeholders"]
    known = _known(service, agency, category_value, entities)
    found = [
        Finding(Code.TEMPLATE_UNRESOLVED, pointer("template", "placeholders", key), message)
        for key, value in placeholders.items()
        if (message := _fault(key, value, known))
    ]
    return found + [
        Finding(
            Code.TEMPLATE_UNRESOLVED,
            pointer("template", "rules"),
            f"The rules use the token {token[:80]!r}, which is not among the placeholders.",
        )
        for token in opening(template["rules"])
        if token and token not in placeholders
    ]


def _fault(key: str, value: Any, known: Mapping[str, tuple[str, ...]]) -> str | None:
    if key in known:
        correct = value == f"{{{key}}}"
        return None if correct else f"The value of {key} must be exactly {{{key}}}."
    if key == "category_value":
        return "There is no selected category to put in for category_value."
    if key.startswith("entity_"):
        return f"There is no accepted entity to put in for {key[:80]!r}."
    return f"There is no placeholder named {key[:80]!r}."


def _known(
    service: Service, agency: Agency, category_value: str | None, entities: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    known = {**dict(_fields("service", service)), **dict(_fields("agency", agency))}
    rest = {f"entity_{name}": value for name, value in entities.items()}
    if category_value is not None:
        rest["category_value"] = category_value
    # These are the answers of earlier stages: a blank one is none.
    return known | {key: (value,) for key, value in rest.items() if value.strip()}


def _fields(prefix: str, entry: Service | Agency) -> Iterator[tuple[str, tuple[str, ...]]]:
    for field in fields(entry):
        value = getattr(entry, field.name)
        items = (value,) if isinstance(value, str) else tuple(value)
        yield f"{prefix}_{field.name}", tuple(item for item in items if item.strip())

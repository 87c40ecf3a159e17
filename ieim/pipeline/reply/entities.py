"""Entities: what triage found in a message, as ``entity_<type>`` placeholders show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ieim.pipeline.personal.redaction import PLACEHOLDER

CONTRACT = "extract"
"""The contract of triage that finds them."""
PREFIX = "entity_"

LONGEST = 60
"""Code points of what is shown again: a name, a date, an amount, and no sentence that a message
dictates."""


def by_type(extracted: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the first value of each type in a gated answer of extract, None for no answer.

    Values are the citizen's own words, or masked; what stands for personal data, and what is too
    long for a value, is left out.
    """
    found: dict[str, str] = {}
    for entity in (extracted or {}).get("entities", ()):
        value = entity["value_redacted"]
        short = len(value) <= LONGEST and bool(value.strip())
        if short and not PLACEHOLDER.search(value):
            found.setdefault(entity["entity_type"], value)
    return found


def may_name(raw: str) -> bool:
    """Whether an answer that nobody has judged yet may name one."""
    return f'"{PREFIX}' in raw

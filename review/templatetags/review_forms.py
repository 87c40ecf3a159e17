"""What the forms' templates need beyond Django's own filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def at(values: Mapping[str, Any] | None, key: str) -> Any:
    """Return ``values[key]``, None where there is nothing: for keys that are no identifiers."""
    return (values or {}).get(key)

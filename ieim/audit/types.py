"""Types that callers of the audit record need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JSONValue: TypeAlias = (
    bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"] | None
)
"""What a payload may hold. Decimals, dates and UUIDs are converted by the caller."""

Row: TypeAlias = tuple[str, str, str]
"""A stored row that an event vouches for: its kind, its id, the digest of its content."""

"""What a check says about the knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ieim.knowledge.bundles.rows import Table


class Severity(StrEnum):
    """What a remark means for publishing."""

    ERROR = "error"
    """It cannot be proposed like this."""
    WARNING = "warning"
    """Worth a look; no reason to stop."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing about one entry. ``sentence`` says what it is and what to do.

    ``entry`` is the natural id as a person reads it, its parts joined by spaces; "" is about the
    whole. ``agency`` is the id of the agency whose editor can do something about it, "" for none.
    """

    code: str
    severity: Severity
    table: Table
    entry: str
    agency: str
    sentence: str

    def as_dict(self) -> dict[str, str]:
        """Return the remark as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Remark:
        """Return the remark whose :meth:`as_dict` this is."""
        return cls(**{**values, "severity": Severity(values["severity"])})

"""Rows as they were read, before anybody has judged them, and what may be wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

Table: TypeAlias = Literal[
    "agencies",
    "dictionary",
    "services",
    "labels",
    "help_lines",
    "risk_examples",
    "texts",
    "situations",
    "translations",
    "questions",
]
TABLES: tuple[Table, ...] = get_args(Table)
"""What refers comes after what it refers to."""
OPTIONAL: frozenset[Table] = frozenset(TABLES) - {"agencies", "dictionary", "services"}
"""Tables that a bundle may do without."""
IDENTITY: Mapping[Table, tuple[str, ...]] = {
    "agencies": ("id",),
    "dictionary": ("agency", "key"),
    "services": ("agency", "key"),
    "labels": ("set", "code"),
    "translations": ("language", "agency", "category", "service", "situation"),
    "help_lines": ("language", "flag"),
    "risk_examples": ("language", "text"),
    "texts": ("case", "language"),
    "situations": ("key",),
    "questions": ("agency", "service", "situation", "language", "text"),
}
"""The columns that identify a row."""

OF_NO_AGENCY: frozenset[Table] = frozenset(
    {"labels", "help_lines", "risk_examples", "texts", "situations"}
)
"""Tables whose entries belong to every agency."""

Value: TypeAlias = "str | Decimal | bool | Sequence[Value] | Wrong | None"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A value of a type that no column has; ``what`` names it with its article ("a date")."""

    what: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row and where it stands.

    ``file`` is what a person would look for (a path, or the name of a draft entry), ``line`` counts
    from 1, None where there are no lines. ``lines`` has the line of single values where it differs.
    """

    file: str
    line: int | None
    values: Mapping[str, Value]
    lines: Mapping[str, int] = field(default_factory=dict)

    def line_of(self, column: str) -> int | None:
        """Return the line on which the value of ``column`` stands."""
        return self.lines.get(column, self.line)


@dataclass(frozen=True, slots=True)
class BundleProblem:
    """One thing that is wrong, where, and what to do about it.

    ``complaint`` is a predicate of ``part`` of the value of ``column`` ("entry 3"): of all of it
    where there is no part, of the row or the file where there is no column.
    """

    file: str
    line: int | None
    complaint: str
    column: str = ""
    part: str = ""

    @property
    def message(self) -> str:
        """What is wrong, in one sentence: it names the column."""
        return " ".join(filter(None, (self.column, self.part, self.complaint)))

    @property
    def short_message(self) -> str:
        """What is wrong, in one sentence that is shown with the value."""
        return f"{self.part or 'this'} {self.complaint}"

    def __str__(self) -> str:
        position = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{position}: {self.message}"


class BundleError(Exception):
    """A bundle cannot be used; ``errors`` has every reason, file by file in reading order."""

    def __init__(self, errors: Sequence[BundleProblem]) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = list(errors)

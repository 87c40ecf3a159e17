"""Differences between two releases, or the draft and one, by entry and field.

Pure. An entry that only moved is not a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

from ieim.knowledge.bundles.bundle import Entry
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table
from ieim.knowledge.bundles.situations import SituationRow
from ieim.pipeline.knowledge import Release

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_LEAST_RATIO = 0.4
"""Texts that are less alike are shown as replaced as a whole."""


class Kind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Field:
    """One column that differs, as text: a list has one item a line, a missing value is ""."""

    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One entry that differs: ``entry`` is its natural id, ``name`` its name for people, and
    ``agency`` "" where it belongs to every agency.

    ``language`` and ``service`` (a key within the agency) are those of a text in one language.
    """

    table: Table
    kind: Kind
    entry: str
    agency: str
    name: str
    fields: tuple[Field, ...]
    language: str = ""
    service: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words of a text; ``changed`` if the other text does not have them here."""

    text: str
    changed: bool


def differences(before: Release | None, after: Release) -> list[Difference]:
    """Return the changes from ``before`` (None: nothing) to ``after`` by table, in its order;
    removed entries come last."""
    changes: list[Difference] = []
    for table in TABLES:
        old = {_identity(table, row): row for row in _rows(before, table)} if before else {}
        for row in _rows(after, table):
            old_row = old.pop(_identity(table, row), None)
            if old_row is None:
                changes.append(_difference(table, Kind.ADDED, None, row))
            elif old_row != row:
                changes.append(_difference(table, Kind.CHANGED, old_row, row))
        changes += [_difference(table, Kind.REMOVED, row, None) for row in old.values()]
    return changes


def marked(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in runs of words; runs that the other text lacks there are ``changed``.

    Joined, the runs are the texts. Texts that have little in common are changed as a whole.
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > 2_000)
    if not before or not after or matcher.ratio() < _LEAST_RATIO:
        return _whole(before), _whole(after)
    before_pieces: list[Piece] = []
    right: list[Piece] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        _add(before_pieces, "".join(old[i:j]), tag != "equal")
        _add(right, "".join(new[k:m]), tag != "equal")
    return before_pieces, right


def _rows(release: Release, table: Table) -> Iterable[Entry]:
    if table == "labels":
        return [label for codes in release.labels.values() for label in codes.values()]
    if table == "situations":
        return map(SituationRow.of, release.situations.values())
    rows: Mapping[Any, Entry] | Iterable[Entry] = getattr(
        release, "categories" if table == "dictionary" else table
    )
    return rows.values() if isinstance(rows, Mapping) else rows


def _identity(table: Table, row: Entry) -> tuple[str, ...]:
    return tuple(getattr(row, column) for column in IDENTITY[table])


def _difference(table: Table, kind: Kind, before: Entry | None, after: Entry | None) -> Difference:
    row = after or before
    if row is None:
        raise ValueError("a difference has at least one side")
    identity = _identity(table, row)
    columns = [field.name for field in fields(row) if field.name not in IDENTITY[table]]
    values = [(c, before and getattr(before, c), after and getattr(after, c)) for c in columns]
    name = getattr(row, "value" if table == "dictionary" else "name", "")
    language = getattr(row, "language", "")
    named = [text for text in identity if text and text != language] or identity
    return Difference(
        table=table,
        kind=kind,
        entry=" ".join(filter(None, identity)),
        agency=str(getattr(row, "id" if table == "agencies" else "agency", "")),
        name=name or named[-1],
        language=language,
        fields=tuple(
            Field(column, _text(old), _text(new))
            for column, old, new in values
            if old != new and (_text(old) or _text(new))
        ),
        service=getattr(row, "service", ""),
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    return "\n".join(value) if isinstance(value, tuple) else str(value)


def _whole(text: str) -> list[Piece]:
    return [Piece(text, changed=True)] if text else []


def _add(pieces: list[Piece], text: str, changed: bool) -> None:
    if text:
        pieces.append(Piece(text, changed))

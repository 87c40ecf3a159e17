"""Putting entries of one bundle into another, and merging field by field in three ways. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from ieim.knowledge.bundles.bundle import Bundle, Entry
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table

Name: TypeAlias = tuple[str, str]
"""A table, and the natural id of an entry in it, its parts joined by spaces."""

Columns: TypeAlias = frozenset[str]
"""Columns of an entry, or :data:`WHOLE` alone."""
WHOLE = "*"
"""In the place of columns: the entry as a whole, which is new or was removed."""

Rows: TypeAlias = Mapping[str, dict[str, Entry]]
"""The entries of a bundle by table and natural id, in its order."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that two people have changed differently; no ``column`` is the entry as a whole, one
    of whom has removed it."""

    table: Table
    entry: str
    column: str


def named(bundle: Bundle) -> Rows:
    """Return the entries of ``bundle`` by table and natural id."""
    return {
        table: {
            " ".join(filter(None, (getattr(row, column) for column in IDENTITY[table]))): row
            for row in getattr(bundle, table)
        }
        for table in TABLES
    }


def values_of(table: Table, row: Entry) -> dict[str, Any]:
    """Return the columns of an entry as a bundle's row has them, lists as lists."""
    values = {name: getattr(row, name) for name in COLUMNS[table]}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def differing(before: Entry | None, after: Entry | None) -> Columns:
    """Return the columns in which two versions of an entry differ, but for what is stale of a
    translation, which nobody has written."""
    if before is None or after is None:
        return frozenset() if before is after else frozenset({WHOLE})
    names = [field.name for field in fields(after) if field.name != "stale"]
    return frozenset(n for n in names if getattr(before, n) != getattr(after, n))


def put_together(
    base: Bundle | None, draft: Bundle, columns: Mapping[Name, Columns]
) -> tuple[Bundle, list[Name]]:
    """Return ``base`` (None: nothing) with the ``columns`` of entries as ``draft`` has them, and
    the entries that ``base`` has not, and of which single columns alone were wanted.

    Entries are in the order of the draft.
    """
    if base is None:
        empty: dict[str, Any] = dict.fromkeys(TABLES, ())
        base = replace(draft, **empty)
    before, after = named(base), named(draft)
    result: dict[str, Any] = {}
    missing: list[Name] = []
    for table in TABLES:
        rows = dict(before[table])
        for name, wanted in columns.items():
            if name[0] != table:
                continue
            entry, old, new = name[1], rows.get(name[1]), after[table].get(name[1])
            if WHOLE in wanted:
                if new is None:
                    rows.pop(entry, None)
                else:
                    rows[entry] = new
            elif old is None:
                missing += [name] if new is not None else []
            elif new is not None:
                known = {field.name for field in fields(new)} & wanted
                values: Any = {column: getattr(new, column) for column in known}
                rows[entry] = replace(old, **values)
        result[table] = _in_order(rows, list(after[table]))
    return replace(base, **result), missing


def merge(base: Bundle | None, mine: Bundle, theirs: Bundle) -> tuple[Bundle, list[Conflict]]:
    """Return ``theirs`` with what ``mine`` changes of ``base``, and what both have changed."""
    before = named(base) if base else {table: {} for table in TABLES}
    own, other = named(mine), named(theirs)
    conflicts: list[Conflict] = []
    result: dict[str, Any] = {}
    for table in TABLES:
        rows = dict(other[table])
        for entry in before[table].keys() | own[table].keys():
            old, new, now = (side[table].get(entry) for side in (before, own, other))
            if new in (old, now):
                continue
            if now != old:
                new, columns = _merged(old, new, now)
                conflicts += [Conflict(table, entry, column) for column in columns]
            if new is None:
                rows.pop(entry, None)
            else:
                rows[entry] = new
        result[table] = _in_order(rows, [*other[table], *own[table]])
    return replace(theirs, **result), sorted(conflicts, key=lambda c: (c.table, c.entry, c.column))


def _merged(
    old: Entry | None, mine: Entry | None, theirs: Entry | None
) -> tuple[Entry | None, list[str]]:
    """Return an entry that both have changed, and the columns in which they differ."""
    if mine is None or theirs is None:
        return theirs, [""]
    names = [field.name for field in fields(mine)]
    values, columns = merge_values(
        {} if old is None else {name: getattr(old, name) for name in names},
        {name: getattr(mine, name) for name in names},
        {name: getattr(theirs, name) for name in names},
    )
    merged: Any = theirs
    return replace(merged, **values), columns


def merge_values(
    old: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the columns of ``theirs`` with what ``mine`` changes of ``old``, and the columns that
    both have changed differently, which stay as ``theirs``."""
    values, conflicts = dict(theirs), []
    for name, value in mine.items():
        if (name in old and value == old[name]) or value == theirs.get(name):
            continue
        if name in old and theirs.get(name) == old[name]:
            values[name] = value
        elif name == "stale":  # nobody wrote it: what either original has made stale is so
            values[name] = tuple(dict.fromkeys((*value, *theirs[name])))
        else:
            conflicts.append(name)
    return values, conflicts


def _in_order(rows: Mapping[str, Entry], order: Sequence[str]) -> tuple[Entry, ...]:
    """Return the entries of ``rows`` in an ``order``; one that is not in it stays in its place."""
    names = list(dict.fromkeys(name for name in order if name in rows))
    known = set(names)
    for index, name in enumerate(rows):
        if name not in known:
            names.insert(index, name)
    return tuple(rows[name] for name in names)

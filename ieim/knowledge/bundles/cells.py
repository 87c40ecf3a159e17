"""Cells of CSV files and spreadsheets: lists in one cell, and text that no spreadsheet runs.

Every way out has its way back, whatever the text is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from ieim.knowledge.bundles.rows import Value

LIST_COLUMNS = frozenset({"keywords", "categories", "requirements", "how_to_apply"})
"""Columns that are lists: the items of a cell stand between bars."""

BOM = "\ufeff"
NUMBER_COLUMNS = frozenset({"threshold"})

# What spreadsheets take for the beginning of a formula, full-width forms included.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_TOKEN = re.compile(r"\\?.", re.DOTALL)
_MARKS = re.compile(r"[\\|]")


def joined(items: Sequence[str]) -> str:
    r"""Return a list as one cell: items between bars, with ``\|`` and ``\\`` for those themselves.

    A space at either end of an item is written with a backslash before it.
    """
    return " | ".join(_item(item) for item in items)


def split(cell: str) -> list[str]:
    """Return the items of :func:`joined`; spaces around a bar do not count."""
    if not cell.strip():
        return []
    items: list[list[str]] = [[]]
    for piece in _TOKEN.findall(cell):
        if piece == "|":
            items.append([])
        else:
            items[-1].append(piece)
    return [_text(tokens) for tokens in items]


def guarded(text: str) -> str:
    """Return ``text`` with an apostrophe before what a spreadsheet would run as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """Return the text of a :func:`guarded` cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


class _Line:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def csv_lines(
    header: Sequence[str], rows: Iterable[Sequence[Any]], *, quoted: bool = False
) -> Iterator[str]:
    """Yield a table as CSV (RFC 4180), line by line, without a cell that would run as a formula.

    With all cells ``quoted`` they stay whole even where another separator is expected.
    """
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    # Spreadsheets take a CSV file for UTF-8 only when it begins with the mark.
    yield BOM + writer.writerow(header)
    for row in rows:
        yield writer.writerow(guarded(cell) if isinstance(cell, str) else cell for cell in row)


def read_cell(column: str, cell: str) -> Value:
    """Return the value of a cell of text; an empty one is a blank value."""
    if column in LIST_COLUMNS:
        return split(cell)
    if column in NUMBER_COLUMNS:
        return number(cell.strip()) if cell.strip() else None
    return cell


def number(text: str) -> Value:
    """Return ``text`` as a number, or as it is when it is none."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def _item(item: str) -> str:
    marked = _MARKS.sub(r"\\\g<0>", item)
    if marked[:1].isspace():
        marked = f"\\{marked}"
    if marked[1:] and marked[-1].isspace():
        marked = f"{marked[:-1]}\\{marked[-1]}"
    return marked


def _text(tokens: Sequence[str]) -> str:
    # A space with its backslash is no space: it belongs to the item.
    inner = [place for place, token in enumerate(tokens) if not token.isspace()]
    kept = tokens[inner[0] : inner[-1] + 1] if inner else ()
    return "".join(token[-1] for token in kept)

"""Reading an uploaded file of one table: its rows with their lines, and what cannot be read.

Nothing here raises for bad input. Text formats are read as bundles are; a row of a workbook stands
on the line that the spreadsheet shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.formats import Reader, json_decoder, json_row, read_csv, read_yaml
from ieim.knowledge.bundles.rows import Table
from ieim.studio.exchange.workbook import read_workbook

MAX_BYTES = 16 * 1024 * 1024
MAX_ROWS = 20_000
"""More than a spreadsheet is good for; a bundle has no such limit."""


class Upload(Reader):
    """An uploaded file. Problems name no file: whoever shows them knows what it is called."""

    def __init__(self, data: bytes) -> None:
        super().__init__(Path())
        self.file = ""
        self._data = data

    def data(self) -> bytes:
        """Return the bytes."""
        return self._data


def read_json(reader: Reader) -> None:
    """Read one JSON array of objects, with the line on which each begins."""
    text = reader.text() or ""
    place = _skip(text, 0, " \t\r\n")
    if text[place : place + 1] != "[":
        reader.problem(1, 'is not a JSON array: write [{"column": value, ...}, ...]')
        return
    place = _skip(text, place + 1, " \t\r\n")
    line, counted = 1, 0
    while text[place : place + 1] != "]":
        line += text.count("\n", counted, place)
        counted = place
        twice: list[str] = []
        try:
            row, place = json_decoder(twice).raw_decode(text, place)
        except json.JSONDecodeError as error:
            reader.problem(error.lineno, f"is not JSON: {error.msg} (column {error.colno})")
            return
        except (ValueError, ArithmeticError, RecursionError):
            reader.problem(line, "is not JSON that can be read: it is nested or numbered too far")
            return
        json_row(reader, line, row, twice)
        place = _skip(text, place, " \t\r\n")
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1, " \t\r\n")
        elif text[place : place + 1] != "]":
            found = text.count("\n", 0, place) + 1
            reader.problem(found, "is not JSON: a comma or the closing ] is missing")
            return
    if text[place + 1 :].strip():
        found = text.count("\n", 0, place) + 1
        reader.problem(found, "is not JSON: something stands after the closing ]")


def read(kind: str, table: Table, data: bytes) -> Upload:
    """Read ``data`` as ``kind`` ("csv", "xlsx", "yaml" or "json") of ``table``."""
    reader = Upload(data)
    if len(data) > MAX_BYTES:
        reader.problem(None, f"is larger than {MAX_BYTES // 2**20} MiB: split it, or load a bundle")
    elif not data.strip():
        reader.problem(None, "is empty: choose a file with a header and at least one row")
    elif kind == "xlsx":
        read_workbook(reader, table, data, MAX_ROWS)
    else:
        _TEXT[kind](reader)
    named = {name for row in reader.rows for name in row.values}
    if kind in ("csv", "xlsx") and named and named.isdisjoint(COLUMNS[table]):
        # Said of every row and column, it would be said many times.
        reader.rows = []
        columns = ", ".join(COLUMNS[table])
        reader.problem(1, f"has no column that is known: those of {table} are {columns}")
    if len(reader.rows) > MAX_ROWS:
        reader.rows = reader.rows[:MAX_ROWS]
        reader.problem(None, f"has more than {MAX_ROWS:,} rows: split it, or load a bundle")
    elif not reader.rows and not reader.problems:
        reader.problem(None, "has no rows: there is nothing to import")
    return reader


def _skip(text: str, place: int, characters: str) -> int:
    while place < len(text) and text[place] in characters:
        place += 1
    return place


_TEXT: Mapping[str, Callable[[Reader], None]] = {
    "csv": read_csv,
    "yaml": read_yaml,
    "json": read_json,
}

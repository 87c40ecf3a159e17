"""One table of the draft as a file: CSV, XLSX, YAML or JSON, read with its lines and written.

Reading never raises for bad input: it notes what is wrong and where. Text formats are read as
bundles are; a row of a workbook stands on the line that the spreadsheet shows. What is written is
read back as it was.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import yaml
from openpyxl import Workbook, load_workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.formats import (
    DIGITS,
    NUMBER_COLUMNS,
    HeadedTable,
    Reader,
    csv_lines,
    joined,
    read_cell,
    read_csv,
    read_json,
    read_yaml,
)
from ieim.knowledge.bundles.rows import Row, Table, Value, Wrong
from ieim.pipeline.canonical import DecimalEncoder
from ieim.studio.drafts.entries import column_values
from ieim.studio.models import DraftEntry

MAX_BYTES = 16 * 1024 * 1024
MAX_ROWS = 20_000
"""More than a spreadsheet is good for; a bundle has no such limit."""

MEDIA_TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "yaml": "application/yaml",
    "json": "application/json",
}
"""The kinds of files, and what each is sent as."""

_TEXT: Mapping[str, Callable[[Reader], None]] = {
    "csv": read_csv,
    "yaml": read_yaml,
    "json": read_json,
}


def read(kind: str, table: Table, data: bytes) -> Reader:
    """Read ``data`` as ``kind`` ("csv", "xlsx", "yaml" or "json") of ``table``.

    Problems name no file: whoever shows them knows what it is called.
    """
    reader = Reader("", data, as_text=True)
    if len(data) > MAX_BYTES:
        reader.problem(None, f"is larger than {MAX_BYTES // 2**20} MiB: split it, or load a bundle")
    elif not data.strip():
        reader.problem(None, "is empty: choose a file with a header and at least one row")
    elif kind == "xlsx":
        read_workbook(reader, table)
    else:
        _TEXT[kind](reader)
    names = {name for row in reader.rows for name in row.values}
    if kind in ("csv", "xlsx") and names and names.isdisjoint(COLUMNS[table]):
        # Noted for every row and column, it would be noted many times.
        reader.rows = []
        columns = ", ".join(COLUMNS[table])
        reader.problem(1, f"has no column that is known: those of {table} are {columns}")
    if len(reader.rows) > MAX_ROWS:
        reader.rows = reader.rows[:MAX_ROWS]
        reader.problem(None, f"has more than {MAX_ROWS:,} rows: split it, or load a bundle")
    elif not reader.rows and not reader.problems:
        reader.problem(None, "has no rows: there is nothing to import")
    return reader


def write(kind: str, table: str, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return the file: text, lists of text, Decimal or None under their columns.

    Raises:
        ValueError: With a sentence, for what XLSX cannot hold.
    """
    rows = list(rows)
    cells = [[joined(value) if isinstance(value, list) else value for value in row] for row in rows]
    if kind == "xlsx":
        return write_workbook(table, headers, cells)
    if kind == "csv":
        flat = (["" if cell is None else str(cell) for cell in row] for row in cells)
        return "".join(csv_lines(headers, flat)).encode()
    records = [dict(zip(headers, row, strict=True)) for row in rows]
    if kind == "yaml":
        text = yaml.dump(records, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
        return str(text).encode()
    # One row a line, so that a line's number finds it.
    lines = (json.dumps(row, cls=DecimalEncoder, ensure_ascii=False) for row in records)
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def export(kind: str, table: Table, entries: Iterable[DraftEntry]) -> bytes:
    """Return entries of a table as a file with a bundle's columns.

    Raises:
        ValueError: With a sentence, for what the file cannot hold.
    """
    rows = (list(column_values(entry).values()) for entry in entries)
    return write(kind, table, list(COLUMNS[table]), rows)


class _Dumper(yaml.SafeDumper):
    """Quotes text with rare line breaks or control characters: unquoted it would change."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if text.replace("\n", "").isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _quoted)
_Dumper.add_representer(Decimal, lambda dumper, value: dumper.represent_float(float(value)))


CELL_LIMIT = 32_767
"""Characters in one cell: what spreadsheets hold."""
MAX_UNPACKED = 128 * 1024 * 1024
"""Bytes of all parts of a workbook together."""
MAX_CELLS = 500_000
"""Cells of a workbook: 20,000 rows of 25 columns."""
_TAGS = 6
"""Tags of a cell with a text: itself, <is> and <t>, and their ends."""
_MAX_COLUMNS = 64

# Characters that XML cannot hold, or would change, are written as spreadsheets write them.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_WRITTEN = re.compile("_x([0-9A-Fa-f]{4})_")


def write_workbook(table: str, headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Return a workbook with the sheet ``table``; values are text, Decimal or None.

    Raises:
        ValueError: For a text that no cell can hold.
    """
    # Before the book is begun: openpyxl leaves a half-written one open.
    for number, row in enumerate(rows, start=2):
        for header, value in zip(headers, row, strict=True):
            if isinstance(value, str) and len(_written(value)) > CELL_LIMIT:
                raise ValueError(
                    f"Row {number}: {header} has more than {CELL_LIMIT:,} characters, which no "
                    "spreadsheet can hold. Export CSV, YAML or JSON instead."
                )
    book = Workbook(write_only=True)
    sheet = book.create_sheet(table)
    sheet.freeze_panes = "A2"
    head = [_sheet_cell(sheet, header) for header in headers]
    for cell in head:
        cell.font = Font(bold=True)
    sheet.append(head)
    for row in rows:
        sheet.append([_sheet_cell(sheet, value) for value in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read_workbook(reader: Reader, table: Table) -> None:
    """Read the sheet called ``table``, or the only one."""
    try:
        with zipfile.ZipFile(io.BytesIO(reader.data)) as parts:
            # A part is never unpacked beyond the size that is written here.
            unpacked = sum(part.file_size for part in parts.infolist())
            if unpacked > MAX_UNPACKED:
                limit = MAX_UNPACKED // 2**20
                reader.problem(None, f"is larger than {limit} MiB when it is unpacked: split it")
                return
            # Every tag is work, whether it is a cell, and of which row and column, or not.
            tags = sum(parts.read(part).count(b"<") for part in parts.infolist())
        if tags > _TAGS * MAX_CELLS:
            reader.problem(
                None,
                f"has more than {MAX_CELLS:,} cells: remove sheets, rows and columns that are not "
                "needed, or split it",
            )
            return
        book = load_workbook(io.BytesIO(reader.data), read_only=True)
        try:
            _read_book(reader, table, book)
        finally:
            book.close()
    except Exception:  # noqa: BLE001 - openpyxl fails in many ways where a file is not as it expects
        reader.problem(None, "is no XLSX workbook that can be read: save it again as .xlsx")


def _read_book(reader: Reader, table: Table, book: Workbook) -> None:
    names = [sheet.title for sheet in book.worksheets]
    matches = [name for name in names if name.strip().lower() == table]
    if not matches and len(names) != 1:
        sheet_names = ", ".join(names[:10]) or "none"
        reader.problem(None, f"has the sheets {sheet_names}: call the one to read {table!r}")
        return
    sheet = book[(matches or names)[0]]
    reader.file = f"sheet {sheet.title!r}"
    # The file says how large the sheet is, and may say anything.
    sheet.reset_dimensions()
    headed = HeadedTable(reader)
    rows = sheet.iter_rows(max_row=MAX_ROWS + 10_000, max_col=_MAX_COLUMNS)
    for line, cells in enumerate(rows, start=1):
        values = [_cell_value(cell) for cell in cells]
        width = len(headed.header)
        # A blank text to the right of the headers is none.
        while values and (
            values[-1] is None or (0 < width < len(values) and not str(values[-1]).strip())
        ):
            values.pop()
        if not values or headed.is_header(line, values):
            continue
        if len(values) > width:
            problem = f"has {len(values)} cells under {width} headers: name every column"
            reader.problem(line, problem)
            continue
        values += [None] * (width - len(values))
        row = {name: _column_value(name, value) for name, value in headed.named(line, values)}
        reader.rows.append(Row(reader.file, line, row))
        if len(reader.rows) > MAX_ROWS:
            return


def _cell_value(cell: Any) -> Value:
    """Return what stands in a cell: text, a number, None for nothing, Wrong for the rest."""
    value = cell.value
    if value is None or value == "":
        return None
    if cell.data_type == "f":
        return Wrong("a formula: paste its result as a value")
    if cell.data_type == "e":
        return Wrong(f"the error {str(value)[:20]}")
    if isinstance(value, str):
        return _WRITTEN.sub(lambda match: chr(int(match[1], 16)), value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(Decimal(str(value)), str(cell.number_format))
    if isinstance(value, date | time | timedelta):
        return Wrong("a date or a time: format the cell as text")
    return Wrong("not text")


def _number(value: Decimal, shown_as: str) -> Value:
    """Return a number as the text that the sheet shows, without thousands separators; as it is
    where the sheet shows more than digits, such as a currency or a percent sign. ``shown_as`` is
    the format of the cell, "00000" for leading zeros."""
    if not (shape := re.fullmatch(r"General|@|[#,]*(0*)(?:\.(0+))?", shown_as)):
        return value
    whole, _, decimals = f"{value:f}".removesuffix(".0").partition(".")
    decimals = decimals.ljust(len(shape[2] or ""), "0")
    return ".".join(filter(None, (whole.zfill(len(shape[1] or "")), decimals)))


def _column_value(name: str, value: Value) -> Value:
    if value is None or isinstance(value, str):
        return read_cell(name, value or "")
    if isinstance(value, Decimal) and name not in NUMBER_COLUMNS and name not in DIGITS:
        return Wrong("a number: format the cell as text and write it again")
    return value


def _sheet_cell(sheet: Any, value: str | Decimal | None) -> Any:
    cell = WriteOnlyCell(sheet, None)
    if isinstance(value, str) and value:
        cell.value = _written(value)
        # Text, even if it begins with "=": nothing of it is ever run or made a number or a date.
        cell.data_type = "s"
        cell.number_format = "@"
        cell.quotePrefix = True
    elif value is not None and value != "":
        cell.value = value
    return cell


def _written(text: str) -> str:
    return _UNWRITABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)

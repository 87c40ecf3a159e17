"""XLSX workbooks with one sheet of a table: text stays text, whatever it looks like."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from xml.etree.ElementTree import ParseError

from openpyxl import Workbook, load_workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font
from openpyxl.utils.exceptions import InvalidFileException

from ieim.knowledge.bundles.formats import NUMBER_COLUMNS, Reader, read_cell
from ieim.knowledge.bundles.rows import Row, Table, Value, Wrong

CELL_LIMIT = 32_767
"""Characters in one cell: what spreadsheets hold."""
MAX_UNPACKED = 128 * 1024 * 1024
"""Bytes of all parts of a workbook together."""
_MAX_COLUMNS = 64

# Characters that XML cannot hold, or would change, are written as spreadsheets write them.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_WRITTEN = re.compile("_x([0-9A-Fa-f]{4})_")
# What openpyxl raises for a workbook that is none, or is broken inside.
_BROKEN = (
    zipfile.BadZipFile,
    InvalidFileException,
    ParseError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)


def write_workbook(table: str, headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Return a workbook with the sheet ``table``; values are text, Decimal or None.

    Raises ValueError for a text that no cell can hold.
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
    head = [_cell(sheet, header) for header in headers]
    for cell in head:
        cell.font = Font(bold=True)
    sheet.append(head)
    for row in rows:
        sheet.append([_cell(sheet, value) for value in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read_workbook(reader: Reader, table: Table, data: bytes, max_rows: int) -> None:
    """Read the sheet called ``table``, or the only one, into ``reader``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            # A part is never unpacked beyond the size that is written here.
            unpacked = sum(part.file_size for part in parts.infolist())
        if unpacked > MAX_UNPACKED:
            limit = MAX_UNPACKED // 2**20
            reader.problem(None, f"is larger than {limit} MiB when it is unpacked: split it")
            return
        book = load_workbook(io.BytesIO(data), read_only=True)
        try:
            _read_book(reader, table, book, max_rows)
        finally:
            book.close()
    except _BROKEN:
        reader.problem(None, "is no XLSX workbook that can be read: save it again as .xlsx")


def _read_book(reader: Reader, table: Table, book: Workbook, max_rows: int) -> None:
    names = [sheet.title for sheet in book.worksheets]
    if table not in names and len(names) != 1:
        shown = ", ".join(names[:10]) or "none"
        reader.problem(None, f"has the sheets {shown}: call the one to read {table!r}")
        return
    sheet = book[table if table in names else names[0]]
    reader.file = f"sheet {sheet.title!r}"
    # The file says how large the sheet is, and may say anything.
    sheet.reset_dimensions()
    headers: list[str] = []
    rows = sheet.iter_rows(max_row=max_rows + 10_000, max_col=_MAX_COLUMNS)
    for line, cells in enumerate(rows, start=1):
        values = [_value(cell) for cell in cells]
        while values and values[-1] is None:
            values.pop()
        if not values:
            continue
        if not headers:
            headers = [value if isinstance(value, str) else "" for value in values]
            _check_headers(reader, line, headers)
        elif len(values) > len(headers):
            reader.problem(line, f"has {len(values)} cells under {len(headers)} headers")
        else:
            values += [None] * (len(headers) - len(values))
            named = zip(headers, values, strict=True)
            row = {name: _column(name, value) for name, value in named if name}
            reader.rows.append(Row(reader.file, line, row))
            if len(reader.rows) > max_rows:
                return


def _check_headers(reader: Reader, line: int, headers: Sequence[str]) -> None:
    for place, header in enumerate(headers, start=1):
        if not header:
            reader.problem(line, f"has no name over column {place}: name it, or remove the column")
    for header in {header for header in headers if header and headers.count(header) > 1}:
        reader.problem(line, f"has the column {header!r} twice: keep one")


def _value(cell: Any) -> Value:
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
        return Decimal(str(value))
    if isinstance(value, date | time | timedelta):
        return Wrong("a date or a time: format the cell as text")
    return Wrong("not text")


def _column(name: str, value: Value) -> Value:
    if value is None or isinstance(value, str):
        return read_cell(name, value or "")
    if isinstance(value, Decimal) and name not in NUMBER_COLUMNS and name != "effect":
        return Wrong("a number: format the cell as text and write it again")
    return value


def _cell(sheet: Any, value: str | Decimal | None) -> Any:
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

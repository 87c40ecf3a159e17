"""Reading tables from JSON, YAML and CSV, with the line of every row; writing CSV.

Nothing here raises for bad input: what cannot be read becomes a :class:`BundleProblem`. Text is
kept byte for byte, only a byte order mark at the start of a file is dropped, and an apostrophe
before what a spreadsheet would take for a formula in CSV.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import TABLES, BundleProblem, Row, Value, Wrong

MAX_FILE_BYTES = 64 * 1024 * 1024
BOM = "\ufeff"
LIST_COLUMNS = frozenset(
    name for columns in COLUMNS.values() for name, column in columns.items() if column.default == ()
)
"""Columns that are lists: bars separate the items of a cell, or line breaks where it has none."""
NUMBER_COLUMNS = frozenset({"threshold"})
DIGITS = frozenset({"effect", "deadline_days", "processing_days"})
"""Columns that may be numbers in a file and are digits in the draft."""

_COLUMNS = frozenset(name for columns in COLUMNS.values() for name in columns)


class Reader:
    """Collects rows and problems of one file; its problems name ``file``.

    ``as_text``: a number, a date, or true or false in a column of texts is its text, as in CSV.
    """

    def __init__(self, file: str, data: bytes = b"", *, as_text: bool = False) -> None:
        self.as_text = as_text
        self.file = file
        self.data = data
        self.rows: list[Row] = []
        self.problems: list[BundleProblem] = []

    @classmethod
    def of_path(cls, path: Path) -> Reader:
        """Return a reader of a file; one that cannot be read is a problem."""
        reader = cls(str(path))
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                limit = MAX_FILE_BYTES // 2**20
                reader.problem(None, f"is larger than {limit} MiB: split the bundle")
            else:
                reader.data = path.read_bytes()
        except OSError as error:
            reader.problem(None, f"cannot be read: {error.strerror or error}")
        return reader

    def problem(self, line: int | None, message: str) -> None:
        """Note what is wrong on ``line`` (None: with the whole file)."""
        self.problems.append(BundleProblem(self.file, line, message))

    def is_text(self, column: str) -> bool:
        """Whether whatever stands in a column is its text."""
        return self.as_text and column not in NUMBER_COLUMNS

    def text(self) -> str:
        """Return the file's text, "" after noting why it cannot be had."""
        try:
            return decoded(self.data)
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            save = 'save the file as UTF-8 (in Excel "CSV UTF-8")'
            self.problem(line, f"is not UTF-8 text here: {save}")
            return ""


def decoded(data: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 where its byte order mark says so: that is
    the "Unicode text" of spreadsheets.

    Raises:
        UnicodeDecodeError: For any other encoding.
    """
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return data.decode("utf-16" if data.startswith(marks) else "utf-8-sig")


def read_jsonl(reader: Reader) -> None:
    """Read one JSON object a line; blank lines are skipped."""
    # Only "\n" ends a line: a JSON string may contain other line separators.
    for number, line in enumerate(reader.text().split("\n"), start=1):
        if line.strip():
            _read_object(reader, line, 0, number, is_whole_text=True)


def read_json(reader: Reader) -> None:
    """Read one JSON array of objects, with the line on which each begins."""
    text = reader.text()
    position = _skip(text, 0, " \t\r\n")
    if text[position : position + 1] != "[":
        reader.problem(1, 'is not a JSON array: write [{"column": value, ...}, ...]')
        return
    position = _skip(text, position + 1, " \t\r\n")
    line, counted = 1, 0
    while text[position : position + 1] != "]":
        line += text.count("\n", counted, position)
        counted = position
        end = _read_object(reader, text, position, line)
        if end is None:
            return
        position = _skip(text, end, " \t\r\n")
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1, " \t\r\n")
        elif text[position : position + 1] != "]":
            line = text.count("\n", 0, position) + 1
            reader.problem(line, "is not JSON: a comma or the closing ] is missing")
            return
    if text[position + 1 :].strip():
        line = text.count("\n", 0, position) + 1
        reader.problem(line, "is not JSON: something stands after the closing ]")


def _read_object(
    reader: Reader, text: str, start: int, line: int, *, is_whole_text: bool = False
) -> int | None:
    """Add the object that begins at ``start`` as the row of ``line``, and return where it ends.

    None for what is no JSON. With ``is_whole_text``, nothing else may stand in ``text``.
    """
    repeated: list[str] = []
    # Numbers stay as they are written.
    decoder = json.JSONDecoder(
        object_pairs_hook=partial(_object, repeated),
        parse_float=Decimal,
        parse_int=Decimal,
        parse_constant=lambda name: Wrong(f"{name}, which is no number"),
    )
    try:
        if is_whole_text:
            row, end = decoder.decode(text), len(text)
        else:
            row, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        error_line = line if is_whole_text else error.lineno
        reader.problem(error_line, f"is not JSON: {error.msg} (column {error.colno})")
        return None
    except (ValueError, ArithmeticError, RecursionError):
        reader.problem(line, "is not JSON that can be read: it is nested or numbered too far")
        return None
    for key in repeated:
        reader.problem(line, f"has the key {key!r} twice: keep one")
    if isinstance(row, dict):
        values = {key: _json_value(v, reader.is_text(key)) for key, v in row.items()}
        reader.rows.append(Row(reader.file, line, values))
    else:
        reader.problem(line, 'is not a JSON object: write one {"column": value, ...} a line')
    return end


def _object(repeated: list[str], pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated.extend(key for key in values if keys.count(key) > 1)
    return values


def _json_value(value: object, is_text: bool) -> Value:
    if isinstance(value, list):
        return [_json_value(item, is_text) for item in value]
    if is_text and isinstance(value, bool | Decimal):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if value is None or isinstance(value, str | bool | Decimal | Wrong):
        return value
    return Wrong("an object")


def _skip(text: str, position: int, characters: str) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


_SEPARATOR = re.compile(r'(?<!\s)\s*+"?sep=(.)"?[\r\n]', re.IGNORECASE)
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_HEAD = 4_000
"""Characters in which a header begins."""


def read_csv(reader: Reader) -> None:
    """Read rows under a header, an empty cell is a missing value.

    The separator is what a first line "sep=;" names, else that of commas, semicolons and tabs under
    which one of the first lines has most known columns: spreadsheets write semicolons where a comma
    is the decimal mark.
    """
    text = reader.text()
    separator_line = _SEPARATOR.match(text)
    head = text[:_HEAD].splitlines()
    mark = (
        separator_line[1] if separator_line else max(_SEPARATORS, key=partial(_known_columns, head))
    )
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
    table = HeadedTable(reader)
    start = 1
    try:
        for cells in lines:
            line, start = start, lines.line_num + 1
            names_mark = (
                separator_line and not table.header and cells[:1] and "sep=" in cells[0].lower()
            )
            if names_mark or not any(cells) or table.is_header(line, cells):
                continue
            while len(cells) > len(table.header) and not cells[-1].strip():
                cells.pop()
            if len(cells) != len(table.header):
                reader.problem(
                    line,
                    f"has {len(cells)} cells, the header has {len(table.header)} columns: "
                    f"quote cells that contain {_SEPARATORS.get(mark, repr(mark))}",
                )
            else:
                values = {n: read_cell(n, unguarded(c)) for n, c in table.named(line, cells)}
                reader.rows.append(Row(reader.file, line, values))
    except csv.Error as error:
        reader.problem(start, f"is not CSV: {error}")


def _known_columns(lines: Sequence[str], mark: str) -> int:
    headers = (column_names(line.replace('"', "").split(mark)) for line in lines)
    return max((len(_COLUMNS.intersection(header)) for header in headers), default=0)


def column_names(cells: Sequence[object]) -> list[str]:
    """Return the names of a header without the blank ones at its end. White space around a name
    and the case of one that is known do not count."""
    texts = [" ".join(cell.split()) if isinstance(cell, str) else "" for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    keys = (text.lower().replace(" ", "_") for text in texts)
    return [key if key in _COLUMNS else text for key, text in zip(keys, texts, strict=True)]


class HeadedTable:
    """Rows of cells under a header, of CSV or of a workbook."""

    def __init__(self, reader: Reader) -> None:
        self.header: list[str] = []
        self._reader = reader

    def is_header(self, line: int, cells: Sequence[object]) -> bool:
        """Whether a row is the header: the first one, or below titles the first with known columns.

        What stands above a header is forgotten; names that it has twice are noted.
        """
        if not _COLUMNS.isdisjoint(self.header):
            return False
        names = column_names(cells)
        if self.header and len(_COLUMNS.intersection(names)) < 2:
            return False
        self._reader.rows.clear()
        self._reader.problems.clear()
        self.header = names
        for name in {name for name in names if name and names.count(name) > 1}:
            self._reader.problem(line, f"has the column {name!r} twice: keep one")
        return True

    def named(self, line: int, cells: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """Yield the cells of a row by column; one without a name is noted, unless it is empty."""
        for number, (name, cell) in enumerate(zip(self.header, cells, strict=True), start=1):
            if name:
                yield name, cell
            elif cell is not None and str(cell).strip():
                problem = f"has something in column {number}, which has no name"
                self._reader.problem(line, f"{problem}: name it, or remove it")


def read_yaml(reader: Reader) -> None:
    """Read a list of mappings."""
    _read_rows(reader, _compose(reader))


def read_yaml_bundle(path: Path) -> dict[str, Reader]:
    """Read one file with the tables as its top-level keys; return a reader a table.

    The reader with the key "" holds the problems of the file itself.
    """
    reader = Reader.of_path(path)
    readers = {"": reader}
    root = _compose(reader)
    if isinstance(root, yaml.MappingNode):
        for key, node in _pairs(reader, root):
            if key in TABLES:
                readers[key] = Reader(str(path))
                _read_rows(readers[key], node)
            else:
                names = ", ".join(TABLES)
                reader.problem(_line(node), f"has the unknown top-level key {key!r}: use {names}")
    elif root is not None:
        reader.problem(_line(root), f"is not a mapping: use the keys {', '.join(TABLES)}")
    return readers


def _compose(reader: Reader) -> yaml.Node | None:
    text = reader.text()
    try:
        # Only the node graph is built, so no tag can construct anything. Not CSafeLoader: nested
        # 100,000 deep it ends the process, where this one raises RecursionError.
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        reader.problem(line, f"is not YAML: {error.problem or error.context}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        reader.problem(line, f"has the character U+{ord(text[error.position]):04X}: remove it")
    except (yaml.YAMLError, ValueError, RecursionError):
        reader.problem(None, "is not YAML that can be read: it is nested too deeply")
    else:
        return node
    return None


def _read_rows(reader: Reader, node: yaml.Node | None) -> None:
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return
    if not isinstance(node, yaml.SequenceNode):
        reader.problem(_line(node), "is not a list of rows: begin every row with '- '")
        return
    for item in node.value:
        if not isinstance(item, yaml.MappingNode):
            reader.problem(_line(item), "is not a row: write 'column: value' lines under one '- '")
            continue
        pairs = list(_pairs(reader, item))
        values = {key: _yaml_value(value, reader.is_text(key)) for key, value in pairs}
        lines = {key: _line(value) for key, value in pairs}
        reader.rows.append(Row(reader.file, _line(item), values, lines))


def _pairs(reader: Reader, node: yaml.MappingNode) -> list[tuple[str, yaml.Node]]:
    """Return the pairs of a mapping; a key that is repeated or no text is a problem."""
    values: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            reader.problem(_line(key), "has a key that is no text: name a column")
        elif key.value in values:
            reader.problem(_line(key), f"has the key {key.value!r} twice: keep one")
        else:
            values[key.value] = value
    return list(values.items())


def _yaml_value(node: yaml.Node, is_text: bool) -> Value:
    if isinstance(node, yaml.SequenceNode):
        # Columns are lists of text at most; going no deeper keeps aliases from multiplying.
        return [
            _yaml_value(item, is_text) if isinstance(item, yaml.ScalarNode) else Wrong("not text")
            for item in node.value
        ]
    if not isinstance(node, yaml.ScalarNode):
        return Wrong("a mapping")
    match node.tag.removeprefix("tag:yaml.org,2002:"):
        case "bool" | "int" | "float" | "timestamp" if is_text:
            return str(node.value)
        case "str":
            return str(node.value)
        case "null":
            return None
        case "bool":
            return True
        case "int" | "float":
            value = number(node.value)
            return Wrong("a number") if isinstance(value, str) else value
        case "timestamp":
            return Wrong("a date")
    return Wrong(f"a value of the type {node.tag}")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


READERS: Mapping[str, Callable[[Reader], None]] = {
    ".jsonl": read_jsonl,
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".csv": read_csv,
    ".tsv": read_csv,
}
"""How a file of a bundle is read, by its ending."""


# What spreadsheets take for the beginning of a formula, full-width forms included.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_TOKEN = re.compile(r"\\?.", re.DOTALL)
_MARKS = re.compile(r"[\\|\n]")
_BULLET = re.compile(r"(?:[•‣▪◦·●○■□►➢✓✔]\s*|(?:[-*–—]|[0-9]{1,3}[.)])\s+)")


def joined(items: Sequence[str]) -> str:
    r"""Return a list as one cell: items between bars, with ``\|`` and ``\\`` for those themselves.

    A line break is written with a backslash before it, and so is a space at either end of an item.
    """
    return " | ".join(_marked(item) for item in items)


def split(cell: str) -> list[str]:
    """Return the items of :func:`joined`; spaces around a bar do not count.

    Without a bar each line is an item, without the bullet or number in front of it.
    """
    if not cell.strip():
        return []
    tokens = _TOKEN.findall(cell)
    separator = "|" if "|" in tokens else "\n"
    items: list[list[str]] = [[]]
    for token in tokens:
        if token == separator:
            items.append([])
        else:
            items[-1].append(token)
    texts = [_unmarked(item) for item in items]
    if separator == "|" or len(texts) == 1:
        return texts
    lines = (_BULLET.sub("", text, count=1) for text in texts)
    return [line for line in lines if line.strip()]


def _marked(item: str) -> str:
    text = _MARKS.sub(r"\\\g<0>", item)
    if text[:1].isspace():
        text = f"\\{text}"
    if text[1:] and text[-1].isspace() and text[-1] != "\n":
        text = f"{text[:-1]}\\{text[-1]}"
    return text


def _unmarked(tokens: Sequence[str]) -> str:
    # A space with its backslash is no space: it belongs to the item.
    inner = [index for index, token in enumerate(tokens) if not token.isspace()]
    return "".join(token[-1] for token in tokens[inner[0] : inner[-1] + 1]) if inner else ""


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


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a table as CSV (RFC 4180), line by line, without a cell that would run as a formula.

    All cells are quoted: they stay whole, and begin where they begin, even where another separator
    is expected.
    """
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL)
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

"""Reading tables from JSON Lines, YAML and CSV, with the line of every row; writing CSV.

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import TABLES, BundleProblem, Row, Value, Wrong

MAX_FILE_BYTES = 64 * 1024 * 1024


class Reader:
    """Collects rows and problems of one file."""

    def __init__(self, path: Path) -> None:
        self.file = str(path)
        self.rows: list[Row] = []
        self.problems: list[BundleProblem] = []
        self._path = path

    def problem(self, line: int | None, message: str) -> None:
        """Note what is wrong on ``line`` (None: with the whole file)."""
        self.problems.append(BundleProblem(self.file, line, message))

    def data(self) -> bytes | None:
        """Return the file's bytes, or None after noting why they cannot be had."""
        try:
            if self._path.stat().st_size > MAX_FILE_BYTES:
                self.problem(
                    None, f"is larger than {MAX_FILE_BYTES // 2**20} MiB: split the bundle"
                )
                return None
            return self._path.read_bytes()
        except OSError as error:
            self.problem(None, f"cannot be read: {error.strerror or error}")
            return None

    def text(self) -> str | None:
        """Return the file's text, or None after noting why it cannot be had."""
        data = self.data()
        if data is None:
            return None
        try:
            return decoded(data)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            save = 'save the file as UTF-8 (in Excel "CSV UTF-8")'
            self.problem(line, f"is not UTF-8 text here: {save}")
            return None


def decoded(data: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 where its byte order mark says so: that is
    the "Unicode text" of spreadsheets. Raises UnicodeDecodeError."""
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return data.decode("utf-16" if data.startswith(marks) else "utf-8-sig")


def read_jsonl(reader: Reader) -> None:
    """Read one JSON object a line; blank lines are skipped."""
    # Only "\n" ends a line: a JSON string may contain other line separators.
    for place, line in enumerate((reader.text() or "").split("\n"), start=1):
        if not line.strip():
            continue
        twice: list[str] = []
        try:
            row = json_decoder(twice).decode(line)
        except json.JSONDecodeError as error:
            reader.problem(place, f"is not JSON: {error.msg} (column {error.colno})")
            continue
        except (ValueError, ArithmeticError, RecursionError):
            reader.problem(place, "is not JSON that can be read: it is nested or numbered too far")
            continue
        json_row(reader, place, row, twice)


def json_decoder(twice: list[str]) -> json.JSONDecoder:
    """Return a decoder that keeps numbers as Decimal and notes repeated keys in ``twice``."""
    return json.JSONDecoder(
        object_pairs_hook=partial(_object, twice),
        parse_float=Decimal,
        parse_int=Decimal,
        parse_constant=lambda name: Wrong(f"{name}, which is no number"),
    )


def json_row(reader: Reader, number: int, row: object, twice: list[str]) -> None:
    """Add the decoded ``row`` of line ``number``, or note why it is none."""
    for key in twice:
        reader.problem(number, f"has the key {key!r} twice: keep one")
    if not isinstance(row, dict):
        reader.problem(number, 'is not a JSON object: write one {"column": value, ...} a line')
    else:
        values = {key: _json_value(value) for key, value in row.items()}
        reader.rows.append(Row(reader.file, number, values))


def _object(twice: list[str], pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice.extend(key for key in values if keys.count(key) > 1)
    return values


def _json_value(value: object) -> Value:
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if value is None or isinstance(value, str | bool | Decimal | Wrong):
        return value
    return Wrong("an object")


_SEPARATOR = re.compile(r'(?<!\s)\s*+"?sep=(.)"?[\r\n]', re.IGNORECASE)
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_HEAD = 4_000
"""Characters in which a header begins."""


def _known_columns(lines: Sequence[str], mark: str) -> int:
    names = (column_names(line.replace('"', "").split(mark)) for line in lines)
    return max((len(_COLUMNS.intersection(each)) for each in names), default=0)


def read_csv(reader: Reader) -> None:
    """Read rows under a header, an empty cell is a missing value.

    The separator is what a first line "sep=;" names, else that of commas, semicolons and tabs under
    which one of the first lines has most known columns: spreadsheets write semicolons where a comma
    is the decimal mark.
    """
    text = reader.text() or ""
    named = _SEPARATOR.match(text)
    first = text[:_HEAD].splitlines()
    mark = named[1] if named else max(_SEPARATORS, key=partial(_known_columns, first))
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
    header: list[str] = []
    started = 1
    try:
        for cells in lines:
            line, started = started, lines.line_num + 1
            is_naming = named and not header and cells and cells[0].strip().lower()[:4] == "sep="
            if is_naming or not any(cells):
                continue
            if is_header(cells, header):
                header = begin_header(reader, line, cells)
                continue
            while len(cells) > len(header) and not cells[-1].strip():
                cells.pop()
            if len(cells) != len(header):
                reader.problem(
                    line,
                    f"has {len(cells)} cells, the header has {len(header)} columns: "
                    f"quote cells that contain {_SEPARATORS.get(mark, repr(mark))}",
                )
            else:
                row = by_column(reader, line, header, cells)
                values = {name: read_cell(name, unguarded(cell)) for name, cell in row.items()}
                reader.rows.append(Row(reader.file, line, values))
    except csv.Error as error:
        reader.problem(started, f"is not CSV: {error}")


def column_names(cells: Sequence[object]) -> list[str]:
    """Return the names of a header without the blank ones at its end. White space around a name
    and the case of one that is known do not count."""
    texts = [" ".join(cell.split()) if isinstance(cell, str) else "" for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    keys = (text.lower().replace(" ", "_") for text in texts)
    return [key if key in _COLUMNS else text for key, text in zip(keys, texts, strict=True)]


def is_header(cells: Sequence[object], header: Sequence[str]) -> bool:
    """Whether a row is the header: the first one, or below titles the first with known columns."""
    if not header:
        return True
    return _COLUMNS.isdisjoint(header) and len(_COLUMNS.intersection(column_names(cells))) > 1


def begin_header(reader: Reader, line: int, cells: Sequence[object]) -> list[str]:
    """Return the names of a header; what stands above it is forgotten, names that it has twice are
    noted."""
    reader.rows.clear()
    reader.problems.clear()
    header = column_names(cells)
    for name in {name for name in header if name and header.count(name) > 1}:
        reader.problem(line, f"has the column {name!r} twice: keep one")
    return header


def by_column(
    reader: Reader, line: int, header: Sequence[str], cells: Sequence[Any]
) -> dict[str, Any]:
    """Return the cells of a row by column; a column without a name is passed over where it is
    empty, and else noted."""
    for place, (name, cell) in enumerate(zip(header, cells, strict=True), start=1):
        if not name and cell is not None and str(cell).strip():
            problem = f"has something in column {place}, which has no name: name it, or remove it"
            reader.problem(line, problem)
    return {name: cell for name, cell in zip(header, cells, strict=True) if name}


def read_yaml(reader: Reader) -> None:
    """Read a list of mappings."""
    _read_rows(reader, _compose(reader))


def read_yaml_bundle(path: Path) -> dict[str, Reader]:
    """Read one file with the four tables as its top-level keys; return a reader a table.

    The reader with the key "" holds the problems of the file itself.
    """
    whole = Reader(path)
    readers = {"": whole}
    root = _compose(whole)
    if isinstance(root, yaml.MappingNode):
        for key, node in _pairs(whole, root):
            if key in TABLES:
                readers[key] = Reader(path)
                _read_rows(readers[key], node)
            else:
                names = ", ".join(TABLES)
                whole.problem(_line(node), f"has the unknown top-level key {key!r}: use {names}")
    elif root is not None:
        whole.problem(_line(root), f"is not a mapping: use the keys {', '.join(TABLES)}")
    return readers


def _compose(reader: Reader) -> yaml.Node | None:
    text = reader.text()
    if text is None:
        return None
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
    if node is None or _is_null(node):
        return
    if not isinstance(node, yaml.SequenceNode):
        reader.problem(_line(node), "is not a list of rows: begin every row with '- '")
        return
    for item in node.value:
        if not isinstance(item, yaml.MappingNode):
            reader.problem(_line(item), "is not a row: write 'column: value' lines under one '- '")
            continue
        pairs = list(_pairs(reader, item))
        values = {key: _yaml_value(value) for key, value in pairs}
        lines = {key: _line(value) for key, value in pairs}
        reader.rows.append(Row(reader.file, _line(item), values, lines))


def _pairs(reader: Reader, node: yaml.MappingNode) -> list[tuple[str, yaml.Node]]:
    """Return the pairs of a mapping; a key that is repeated or no text is a problem."""
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            reader.problem(_line(key), "has a key that is no text: name a column")
        elif key.value in found:
            reader.problem(_line(key), f"has the key {key.value!r} twice: keep one")
        else:
            found[key.value] = value
    return list(found.items())


_SCALARS: dict[str, Callable[[str], Value]] = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:null": lambda text: None,
    "tag:yaml.org,2002:bool": lambda text: True,
    "tag:yaml.org,2002:int": lambda text: _yaml_number(text),
    "tag:yaml.org,2002:float": lambda text: _yaml_number(text),
    "tag:yaml.org,2002:timestamp": lambda text: Wrong("a date"),
}


def _yaml_value(node: yaml.Node) -> Value:
    if isinstance(node, yaml.SequenceNode):
        # Columns are lists of text at most; going no deeper keeps aliases from multiplying.
        return [
            _yaml_value(item) if isinstance(item, yaml.ScalarNode) else Wrong("not text")
            for item in node.value
        ]
    if isinstance(node, yaml.ScalarNode):
        convert = _SCALARS.get(node.tag)
        return convert(node.value) if convert else Wrong(f"a value of the type {node.tag}")
    return Wrong("a mapping")


def _yaml_number(text: str) -> Value:
    value = number(text)
    return Wrong("a number") if isinstance(value, str) else value


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


LIST_COLUMNS = frozenset(
    {"keywords", "categories", "requirements", "how_to_apply", "next_services", "services"}
)
"""Columns that are lists: bars separate the items of a cell, or line breaks where it has none."""

_COLUMNS = frozenset(name for columns in COLUMNS.values() for name in columns)
BOM = "\ufeff"
NUMBER_COLUMNS = frozenset({"threshold"})
DIGITS = frozenset({"effect", "deadline_days"})
"""Columns that may be numbers in a file and are digits to us."""

# What spreadsheets take for the beginning of a formula, full-width forms included.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_TOKEN = re.compile(r"\\?.", re.DOTALL)
_MARKS = re.compile(r"[\\|\n]")
_BULLET = re.compile(r"(?:[•‣▪◦·●○■□►➢✓✔]\s*|(?:[-*–—]|[0-9]{1,3}[.)])\s+)")


def joined(items: Sequence[str]) -> str:
    r"""Return a list as one cell: items between bars, with ``\|`` and ``\\`` for those themselves.

    A line break is written with a backslash before it, and so is a space at either end of an item.
    """
    return " | ".join(_item(item) for item in items)


def split(cell: str) -> list[str]:
    """Return the items of :func:`joined`; spaces around a bar do not count.

    Without a bar each line is an item, without the bullet or number in front of it.
    """
    if not cell.strip():
        return []
    pieces = _TOKEN.findall(cell)
    mark = "|" if "|" in pieces else "\n"
    items: list[list[str]] = [[]]
    for piece in pieces:
        if piece == mark:
            items.append([])
        else:
            items[-1].append(piece)
    texts = [_text(tokens) for tokens in items]
    if mark == "|" or len(texts) == 1:
        return texts
    lines = (_BULLET.sub("", text, count=1) for text in texts)
    return [line for line in lines if line.strip()]


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


def _item(item: str) -> str:
    marked = _MARKS.sub(r"\\\g<0>", item)
    if marked[:1].isspace():
        marked = f"\\{marked}"
    if marked[1:] and marked[-1].isspace() and marked[-1] != "\n":
        marked = f"{marked[:-1]}\\{marked[-1]}"
    return marked


def _text(tokens: Sequence[str]) -> str:
    # A space with its backslash is no space: it belongs to the item.
    inner = [place for place, token in enumerate(tokens) if not token.isspace()]
    text_tokens = tokens[inner[0] : inner[-1] + 1] if inner else ()
    return "".join(token[-1] for token in text_tokens)


READERS: dict[str, Callable[[Reader], None]] = {
    ".jsonl": read_jsonl,
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".csv": read_csv,
    ".tsv": read_csv,
}
"""How a file is read, by its ending."""

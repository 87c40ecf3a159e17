"""Writing rows of one table as CSV, YAML, JSON or XLSX, such that reading gives them back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import yaml

from ieim.knowledge.bundles.formats import csv_lines, joined
from ieim.pipeline.canonical import DecimalEncoder
from ieim.studio.exchange.workbook import write_workbook

_Rows = Sequence[Sequence[Any]]
"""Values as the draft has them: text, lists of text, Decimal or None."""


def write(kind: str, table: str, headers: Sequence[str], rows: _Rows) -> bytes:
    """Return the file. Raises ValueError, with a sentence, for what XLSX cannot hold."""
    return _WRITERS[kind](table, headers, rows)


def _csv(table: str, headers: Sequence[str], rows: _Rows) -> bytes:
    flat = ([_flat(value) for value in row] for row in rows)
    return "".join(csv_lines(headers, flat, quoted=True)).encode()


def _xlsx(table: str, headers: Sequence[str], rows: _Rows) -> bytes:
    return write_workbook(table, headers, [[_cell(value) for value in row] for row in rows])


def _json(table: str, headers: Sequence[str], rows: _Rows) -> bytes:
    # One row a line, so that a line's number finds it.
    lines = [
        json.dumps(dict(zip(headers, row, strict=True)), cls=DecimalEncoder, ensure_ascii=False)
        for row in rows
    ]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def _yaml(table: str, headers: Sequence[str], rows: _Rows) -> bytes:
    content = [
        {
            name: float(v) if isinstance(v, Decimal) else v
            for name, v in zip(headers, row, strict=True)
        }
        for row in rows
    ]
    text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return str(text).encode()


def _cell(value: Any) -> Any:
    return joined(value) if isinstance(value, list) else value


def _flat(value: Any) -> str:
    return "" if value is None else str(_cell(value))


class _Dumper(yaml.SafeDumper):
    """Quotes text with rare line breaks or control characters: unquoted it would change."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if text.replace("\n", "").isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _quoted)
_WRITERS: Mapping[str, Callable[[str, Sequence[str], _Rows], bytes]] = {
    "csv": _csv,
    "xlsx": _xlsx,
    "json": _json,
    "yaml": _yaml,
}

"""Reading a JSON file strictly: the whole of it is good JSON, or every problem has its pointer."""

from __future__ import annotations

import json
from typing import Any

from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import strict_json
from ieim.studio.standards.report import Problem, StandardError

MAX_DEPTH = strict_json.MAX_DEPTH - 1
"""The deepest nesting of a file; its outermost value counts as 1."""


def read_json(data: bytes) -> Any:
    """Return the value of a JSON file: UTF-8, :data:`MAX_FILE_BYTES` at most.

    Numbers with a fraction or an exponent are Decimal, others int. Raises :class:`StandardError`
    for what is no JSON text, and with one problem each for keys that stand twice, NaN and
    Infinity, numbers that no double holds, NUL and lone surrogates.
    """
    text = _text(data)
    try:
        # The strict reader takes one object, and a file may be a list. Only a text that is JSON by
        # itself may be wrapped: this is what says so, and where it is not.
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        what = "is empty" if not text.strip() else f"is not JSON: {error.msg}"
        raise _refusal(f"{what} (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise _refusal(f"is nested more than {MAX_DEPTH} levels deep") from error
    value, findings = strict_json.parse(f'{{"":{text}}}')
    if value is None:
        raise StandardError(
            _refusal(f"is nested more than {MAX_DEPTH} levels deep").problems[0]
            if finding.code == Code.JSON_TOO_DEEP
            else Problem(finding.path.removeprefix("/"), finding.message)
            for finding in findings
        )
    return value[""]


def _text(data: bytes) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise _refusal(f"is larger than {MAX_FILE_BYTES // 2**20} MiB: split it")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refusal(f"is not UTF-8 text (line {line}): save it as UTF-8") from error


def _refusal(message: str) -> StandardError:
    return StandardError([Problem("", message)])

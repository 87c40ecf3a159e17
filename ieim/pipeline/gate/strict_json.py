"""Strict JSON: what a model said, read as one JSON object or not at all.

Python's own reader takes NaN, lets the last duplicate key win, reads ``1e999`` as infinity and
raises on deep or long input. Here each of these is a finding. Findings never quote the answer:
they are shown and logged, and the answer may hold a citizen's words.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer

MAX_DEPTH = 32
"""The deepest nesting that is read; the outermost object counts as 1."""

_MAX_LITERAL = 400
_MAX_KEY_SHOWN = 100
# Strings are matched whole, so that brackets inside them do not count. A string that never ends
# swallows the rest: the parser stops there, too.
_NESTING = re.compile(r'"(?:[^"\\]+|\\.)*"?|[\[\]{}]', re.DOTALL)
_BAD_CHARACTER = re.compile("[\x00\ud800-\udfff]")


class _Pairs(list[tuple[str, Any]]):
    """An object's members as written, duplicates included."""


class _Integer(str):
    """The literal of a number without fraction and exponent."""


class _Fraction(str):
    """The literal of a number with a fraction or an exponent."""


class _Constant(str):
    """NaN, Infinity or -Infinity."""


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=_Integer,
    parse_float=_Fraction,
    parse_constant=_Constant,
)


def parse(raw: str) -> tuple[dict[str, Any] | None, list[Finding]]:
    """Read ``raw`` as one JSON object.

    Returns ``(object, [])``, or ``(None, findings)`` with every finding in the order of the text.
    Numbers with a fraction or an exponent are Decimal, others int. Never raises.

    Paths are JSON Pointers; a NUL, a lone surrogate or the tail of a very long key in them is
    replaced, so that a finding can always be stored.
    """
    if _depth(raw) > MAX_DEPTH:
        message = f"The answer is nested more than {MAX_DEPTH} levels deep."
        return None, [Finding(Code.JSON_TOO_DEEP, "", message)]
    try:
        # The parser stops at a raw NUL. Standing in for it, a lone surrogate is carried to the
        # walk, which reports both alike and knows the place.
        tree = _DECODER.decode(raw.replace("\x00", "\ud800"))
    except json.JSONDecodeError as error:
        findings = [_encoding("")] if _BAD_CHARACTER.search(raw) else []
        return None, [*findings, Finding(Code.JSON_SYNTAX, "", _syntax_message(raw, error))]
    problems: list[Finding] = []
    if not isinstance(tree, _Pairs):
        problems.append(Finding(Code.JSON_NOT_OBJECT, "", "The answer is JSON, but not an object."))
    value = _build(tree, "", problems)
    return (None, problems) if problems else (value, [])


def _depth(raw: str) -> int:
    """Return the deepest nesting of brackets outside strings."""
    depth = deepest = 0
    for match in _NESTING.finditer(raw):
        mark = match.group()
        if mark in ("{", "["):
            depth += 1
            deepest = max(deepest, depth)
        elif mark in ("}", "]"):
            depth -= 1
    return deepest


def _syntax_message(raw: str, error: json.JSONDecodeError) -> str:
    text = raw.strip()
    rest = raw[error.pos :].lstrip()
    if not text:
        return "The answer is empty."
    if text.startswith(("```", "~~~")):
        return "The answer is wrapped in a code fence; only the JSON object may be sent."
    if error.msg == "Extra data":
        surplus = "a code fence" if rest.startswith(("```", "~~~")) else "more text"
        return f"The JSON is followed by {surplus}; only one JSON object may be sent."
    if not raw[: error.pos].strip() and raw[error.pos : error.pos + 1] not in ("{", "[", '"'):
        return "The answer begins with text that is not JSON; only one JSON object may be sent."
    if not rest or error.msg.startswith("Unterminated string"):
        return "The answer ends before its JSON is complete."
    return f"The answer is not valid JSON: it breaks at line {error.lineno}, column {error.colno}."


def _encoding(path: str) -> Finding:
    message = "There is a NUL, a lone surrogate or text that was not UTF-8."
    return Finding(Code.JSON_ENCODING, path, message)


def _shown(key: str) -> str:
    """Return ``key`` as it may stand in a path: storable, and not as long as the answer."""
    key = _BAD_CHARACTER.sub("\ufffd", key)
    return key if len(key) <= _MAX_KEY_SHOWN else key[:_MAX_KEY_SHOWN] + "…"


def _build(node: Any, path: str, findings: list[Finding]) -> Any:
    """Turn the parser's tree into values, adding what is wrong to ``found``."""
    if isinstance(node, _Pairs):
        return _build_object(node, path, findings)
    if isinstance(node, list):
        return [_build(item, f"{path}/{index}", findings) for index, item in enumerate(node)]
    if isinstance(node, _Constant):
        findings.append(Finding(Code.JSON_NUMBER, path, "NaN and Infinity are not JSON numbers."))
        return None
    if isinstance(node, (_Integer, _Fraction)):
        return _build_number(node, path, findings)
    if isinstance(node, str) and _BAD_CHARACTER.search(node):
        findings.append(_encoding(path))
    return node


def _build_object(node: _Pairs, path: str, findings: list[Finding]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    repeated: set[str] = set()
    for key, item in node:
        here = path + pointer(_shown(key))
        if key in members and key not in repeated:
            repeated.add(key)
            message = "The key stands in its object more than once."
            findings.append(Finding(Code.JSON_DUPLICATE_KEY, here, message))
        if key not in members and _BAD_CHARACTER.search(key):
            findings.append(_encoding(here))
        members[key] = _build(item, here, findings)
    return members


def _build_number(literal: _Integer | _Fraction, path: str, findings: list[Finding]) -> Any:
    def stop(message: str) -> None:
        findings.append(Finding(Code.JSON_NUMBER, path, message))

    if len(literal) > _MAX_LITERAL:
        return stop(f"The number is written with more than {_MAX_LITERAL} characters.")
    as_double = float(literal)
    if math.isinf(as_double):
        return stop("The number is too large for a 64-bit float.")
    mantissa = re.split("[eE]", literal)[0]
    if as_double == 0 and mantissa.strip("-0."):
        return stop("The number is not zero, but too small for a 64-bit float.")
    if isinstance(literal, _Integer):
        return int(literal)
    try:
        return Decimal(literal)
    except InvalidOperation:  # a zero with an exponent beyond all use
        return stop("The number's exponent is out of range.")

"""A model's raw answer as people can read it: formatted, with what is wrong pointed at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.pipeline.findings import pointer
from ieim.pipeline.gate.strict_json import MAX_DEPTH

LONGEST = 20_000
"""Characters of an answer that are shown."""
MOST_LINES = 1_000
_INDENT = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of formatted JSON; ``marks`` are the numbers of the findings that point at it."""

    text: str
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer: ``lines`` where it is JSON, else ``before`` and ``after`` the place where reading
    stopped (all of it is ``before`` where it stopped at the end). ``cut`` says that more was said
    than is shown."""

    lines: tuple[Line, ...] = ()
    before: str = ""
    after: str = ""
    cut: bool = False

    @property
    def empty(self) -> bool:
        """Whether the model said nothing at all."""
        return not self.lines and not self.before.strip() and not self.after.strip()


class _Pairs(list[tuple[str, Any]]):
    """An object as written, repeated keys included."""


class _Literal(str):
    """A number or constant as written: 0.876 must not turn into something rounder."""


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=_Literal,
    parse_float=_Literal,
    parse_constant=_Literal,
    strict=False,
)


def answer_view(raw: str, paths: Sequence[str]) -> AnswerView:
    """Return ``raw`` formatted; ``paths`` are the findings' JSON Pointers, numbered from 1.

    A pointer to what is not there (a missing field) marks the nearest place above it.
    """
    if len(raw) > LONGEST:
        return AnswerView(before=raw[:LONGEST], cut=True)
    try:
        tree = _DECODER.decode(raw)
    except json.JSONDecodeError as error:
        return AnswerView(before=raw[: error.pos], after=raw[error.pos :])
    except RecursionError:
        return AnswerView(before=raw)
    lines = list(_lines(tree))
    if not lines:
        return AnswerView(before=raw)
    return AnswerView(lines=_marked(lines[:MOST_LINES], paths), cut=len(lines) > MOST_LINES)


def pretty(text: str) -> str:
    """Return JSON with line breaks and indents; text that is no JSON as it is."""
    view = answer_view(text, ())
    return "\n".join(line.text for line in view.lines) if view.lines else text


def _lines(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield ``(pointer, line)``; nothing for a tree that nobody would read to its end."""
    found = list(_written(tree, "", 0, "", ""))
    if all(depth <= MAX_DEPTH for depth, _, _ in found):
        for depth, path, text in found:
            yield path, " " * (_INDENT * depth) + text


def _written(
    node: Any, path: str, depth: int, lead: str, tail: str
) -> Iterator[tuple[int, str, str]]:
    if depth > MAX_DEPTH:
        yield depth, path, ""
        return
    if not isinstance(node, list) or not node:
        yield depth, path, f"{lead}{_scalar(node)}{tail}"
        return
    is_object = isinstance(node, _Pairs)
    yield depth, path, lead + ("{" if is_object else "[")
    for index, item in enumerate(node):
        key, value = item if is_object else (index, item)
        begin = f"{_text(key)}: " if is_object else ""
        comma = "," if index < len(node) - 1 else ""
        yield from _written(value, path + pointer(key), depth + 1, begin, comma)
    yield depth, "\0", ("}" if is_object else "]") + tail


def _scalar(node: Any) -> str:
    if isinstance(node, _Literal):
        return str(node)
    if isinstance(node, list):
        return "{}" if isinstance(node, _Pairs) else "[]"
    return _text(node)


def _text(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    # A lone surrogate cannot be sent to a browser.
    return written.encode("utf-8", "replace").decode("utf-8")


def _marked(lines: Sequence[tuple[str, str]], paths: Sequence[str]) -> tuple[Line, ...]:
    places: dict[str, int] = {}
    for index, (path, _) in enumerate(lines):
        places.setdefault(path, index)
    marks: dict[int, list[int]] = {}
    for number, path in enumerate(paths, 1):
        while path not in places:
            path = path.rpartition("/")[0]
        marks.setdefault(places[path], []).append(number)
    return tuple(Line(text, tuple(marks.get(i, ()))) for i, (_, text) in enumerate(lines))

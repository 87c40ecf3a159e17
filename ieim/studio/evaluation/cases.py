"""Evaluation cases: a citizen's message, the conversation before it, the expected outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from ieim.pipeline.message.screen import refusal

INJECTION = "injection"
"""The tag of a case whose text tries to give the model orders."""

_PROBLEM_CHARS = 200


class MalformedCase(Exception):
    """A line that is not a valid case; the message says what is wrong with it."""


class CaseFileError(Exception):
    """A file of cases that cannot be used; ``problems`` has every error as ``(line, message)``."""

    def __init__(self, problems: Sequence[tuple[int, str]]) -> None:
        super().__init__(f"{len(problems)} bad line(s)")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Expected:
    """The right outcome of a case. ``agencies`` is None where it is not labelled; ``services`` has
    the keys of all right services, none where none is labelled or none answers it."""

    inquiry: bool
    agencies: frozenset[str] | None
    services: frozenset[str]

    @property
    def review(self) -> bool:
        """Whether it is an inquiry that nothing answers, so that a person should look at it."""
        return self.inquiry and self.agencies == frozenset() and not self.services

    @property
    def labelled(self) -> bool:
        """Whether an answer can be judged."""
        return not self.inquiry or self.agencies is not None or bool(self.services)


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``history`` is oldest first, with the roles ``user`` and ``assistant``; ``plain``
    is the text without the injected part, where the file has it."""

    id: str
    text: str
    history: tuple[Mapping[str, str], ...]
    expected: Expected
    tags: tuple[str, ...] = ()
    plain: str | None = None

    @property
    def question(self) -> tuple[str, tuple[tuple[tuple[str, str], ...], ...]]:
        """Text and history, hashable."""
        return self.text, tuple(tuple(sorted(item.items())) for item in self.history)


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A file of cases: its name (no folder), the SHA-256 of its bytes in hex, its cases."""

    name: str
    sha256: str
    cases: tuple[Case, ...]


class LineSchema:
    """The JSON Schema of a file's lines, read from ``<name>.schema.json`` in this folder."""

    def __init__(self, name: str) -> None:
        path = Path(__file__).with_name(f"{name}.schema.json")
        self._validator = Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))

    def parse(self, line: bytes) -> dict[str, Any]:
        """Return the object of a line.

        Raises:
            MalformedCase: it is not UTF-8, not JSON, or does not fit the schema.
        """
        try:
            row = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise MalformedCase(f"not UTF-8 at byte {error.start}") from error
        except (ValueError, RecursionError) as error:
            raise MalformedCase(f"not JSON: {error}") from error
        invalid = best_match(self._validator.iter_errors(row))
        if invalid is not None:
            field = "/".join(map(str, invalid.absolute_path))
            raise MalformedCase(f"{field}: {invalid.message}"[:_PROBLEM_CHARS].removeprefix(": "))
        fields: dict[str, Any] = row
        return fields


_SCHEMA = LineSchema("case")


def read_cases(path: Path) -> CaseFile:
    """Read a file of cases, one JSON object a line; blank lines are ignored.

    Raises:
        CaseFileError: with every bad line.
        OSError: the file cannot be read.
    """
    content = path.read_bytes()
    cases: list[Case] = []
    problems: list[tuple[int, str]] = []
    first_lines: dict[str, int] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            case = read_case(line)
        except MalformedCase as error:
            problems.append((number, str(error)))
            continue
        first = first_lines.setdefault(case.id, number)
        if first != number:
            problems.append((number, f"has the same id as line {first}: make it different"))
        cases.append(case)
    if not cases and not problems:
        problems.append((1, "there is no case in the file: write one JSON object a line"))
    if problems:
        raise CaseFileError(problems)
    return CaseFile(path.name, hashlib.sha256(content).hexdigest(), tuple(cases))


def read_case(line: bytes) -> Case:
    """Return the case of one line.

    Raises:
        MalformedCase: it is not a valid case.
    """
    row = _SCHEMA.parse(line)
    tags = tuple(dict.fromkeys(row.get("tags", [])))
    if not all(name.isprintable() for name in (row["id"], *tags)):
        raise MalformedCase("the id or a tag has a character that cannot be printed")
    plain = row.get("plain")
    for name, text in (("text", row["text"]), ("plain", plain)):
        # What the chat page refuses must not reach the pipeline.
        if text is not None and (reason := refusal(text)):
            raise MalformedCase(f"{name}: no citizen can send this ({reason})")
    expected = row["expected"]
    agencies, service = expected["agencies"], expected["service"]
    services = {*(expected.get("acceptable_services") or []), *([service] if service else [])}
    if not expected["inquiry"] and (agencies or services):
        raise MalformedCase("expected: no inquiry, and yet agencies or services")
    return Case(
        id=row["id"],
        text=row["text"],
        history=tuple(map(_history_item, row.get("history", []))),
        expected=Expected(
            expected["inquiry"],
            None if agencies is None else frozenset(agencies),
            frozenset(services),
        ),
        tags=tags,
        plain=plain,
    )


def _history_item(item: Mapping[str, str]) -> Mapping[str, str]:
    """Return an item with one of the pipeline's two roles; an answer keeps its ids."""
    if item["role"] == "user":
        return {"role": "user", "text": item["text"]}
    ids = {name: item[name] for name in ("agency", "service") if item.get(name)}
    return {"role": "assistant", "text": item["text"], **ids}


def plain_question(case: Case, cases: Sequence[Case]) -> tuple[str, str] | None:
    """Return an injected case's text without the injected part, and the source of that text.

    In order: the field ``plain`` (``"plain"``); the longest text of another case that this text
    begins with, with the same history and expectation (``"case"``); the text before the first
    blank line (``"paragraph"``); else None.
    """
    if case.plain is not None:
        return case.plain, "plain"
    prefixes = [
        other.text
        for other in cases
        if INJECTION not in other.tags
        and len(other.text) < len(case.text)
        and case.text.startswith(other.text)
        and other.history == case.history
        and other.expected == case.expected
    ]
    if prefixes:
        return max(prefixes, key=len), "case"
    paragraph, blank, _ = case.text.partition("\n\n")
    return (paragraph, "paragraph") if blank and refusal(paragraph) is None else None

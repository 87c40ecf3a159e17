"""Evaluation cases: a citizen's message, what came before it, and what is expected of the turn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ieim.pipeline.message.screen import refusal

INJECTION = "injection"
"""The tag of a case whose text carries something that tries to give the model orders."""

_TEXT_OR_NULL = (str, type(None))
_REQUIRED: Mapping[str, tuple[type, ...]] = {"id": (str,), "text": (str,), "expected": (dict,)}
_OPTIONAL: Mapping[str, tuple[type, ...]] = {
    "lang": (str,),
    "history": (list,),
    "tags": (list,),
    "labels": (str,),
    "source": (str,),
    "plain": _TEXT_OR_NULL,
}


class MalformedCase(Exception):
    """A line that is no case; the message says what is wrong with it."""


class CaseFileError(Exception):
    """A file of cases that cannot be used; ``problems`` has every one as ``(line, what)``."""

    def __init__(self, problems: Sequence[tuple[int, str]]) -> None:
        super().__init__(f"{len(problems)} bad line(s)")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Expected:
    """What is right for a case. ``agencies`` None: not labelled. ``services``: every service, by
    its key, that counts as right; empty when none is labelled or none answers it."""

    inquiry: bool
    agencies: frozenset[str] | None
    services: frozenset[str]

    @property
    def review(self) -> bool:
        """Whether it is an inquiry that nothing answers: a person should look."""
        return self.inquiry and self.agencies == frozenset() and not self.services

    @property
    def labelled(self) -> bool:
        """Whether an answer can be judged at all."""
        return not self.inquiry or self.agencies is not None or bool(self.services)


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``history`` has the items of the file, oldest first, with the role ``user`` or
    ``assistant``; ``plain`` is the text without what was injected, where the file says so."""

    id: str
    text: str
    history: tuple[Mapping[str, str], ...]
    expected: Expected
    tags: tuple[str, ...] = ()
    plain: str | None = None

    @property
    def question(self) -> tuple[str, tuple[tuple[tuple[str, str], ...], ...]]:
        """Text and talk, hashable: what the pipeline is asked."""
        return self.text, tuple(tuple(sorted(item.items())) for item in self.history)


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A read file: its name (no folder), the SHA-256 of its bytes in hex, its cases in order."""

    name: str
    sha256: str
    cases: tuple[Case, ...]


def read_cases(path: Path) -> CaseFile:
    """Read a file of cases, one JSON object a line; blank lines are left out.

    Raises :class:`CaseFileError` with every bad line, and OSError.
    """
    content = path.read_bytes()
    cases: list[Case] = []
    problems: list[tuple[int, str]] = []
    first: dict[str, int] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            case = read_case(line)
        except MalformedCase as error:
            problems.append((number, str(error)))
            continue
        before = first.setdefault(case.id, number)
        if before != number:
            problems.append((number, f"has the same id as line {before}: make it different"))
        cases.append(case)
    if not cases and not problems:
        problems.append((1, "there is no case in the file: write one JSON object a line"))
    if problems:
        raise CaseFileError(problems)
    return CaseFile(path.name, hashlib.sha256(content).hexdigest(), tuple(cases))


def read_case(line: bytes) -> Case:
    """Return the case of one line; raises :class:`MalformedCase`."""
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MalformedCase(f"not UTF-8 at byte {error.start}") from error
    except (ValueError, RecursionError) as error:
        raise MalformedCase(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise MalformedCase("not a JSON object")
    _check_types(row)
    tags = tuple(dict.fromkeys(_texts("tags", row.get("tags", []))))
    if not row["id"].strip():
        raise MalformedCase("the field id is empty")
    if not all(name.isprintable() for name in (row["id"], *tags)):
        raise MalformedCase("the id or a tag has a character that cannot be printed")
    plain = row.get("plain")
    for name, text in (("text", row["text"]), ("plain", plain)):
        # What the chat page would not take never reaches the pipeline.
        if text is not None and (reason := refusal(text)):
            raise MalformedCase(f"{name}: no citizen can send this ({reason})")
    return Case(
        id=row["id"],
        text=row["text"],
        history=_history(row.get("history", [])),
        expected=_expected(row["expected"]),
        tags=tags,
        plain=plain,
    )


def plain_question(case: Case, cases: Sequence[Case]) -> tuple[str, str] | None:
    """Return what an injected case would be without its injected part, and how that is known.

    In order: the field ``plain`` (``"plain"``); the longest text of another case that this one's
    begins with, where history and what is expected are the same (``"case"``); what stands before
    its first blank line (``"paragraph"``). Else None.
    """
    if case.plain is not None:
        return case.plain, "plain"
    shorter = [
        other
        for other in cases
        if INJECTION not in other.tags
        and len(other.text) < len(case.text)
        and case.text.startswith(other.text)
        and other.history == case.history
        and other.expected == case.expected
    ]
    if shorter:
        return max((other.text for other in shorter), key=len), "case"
    paragraph, blank, _ = case.text.partition("\n\n")
    if blank and refusal(paragraph) is None:
        return paragraph, "paragraph"
    return None


def _check_types(row: Mapping[str, Any]) -> None:
    for name, kinds in _REQUIRED.items():
        if name not in row:
            raise MalformedCase(f"the field {name} is missing")
        if not isinstance(row[name], kinds):
            raise MalformedCase(f"the field {name} has the wrong type")
    for name, kinds in _OPTIONAL.items():
        if name in row and not isinstance(row[name], kinds):
            raise MalformedCase(f"the field {name} has the wrong type")


def _history(items: Sequence[Any]) -> tuple[Mapping[str, str], ...]:
    """Return the talk with the pipeline's two roles, and the ids of what an answer was about."""
    told = []
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            raise MalformedCase(f"history/{place} is not an object")
        if item.get("role") not in ("user", "agent", "assistant"):
            raise MalformedCase(f"history/{place}/role is none of user, agent, assistant")
        for name in ("text", "agency", "service"):
            if not isinstance(item.get(name, None if name == "text" else ""), str):
                raise MalformedCase(f"history/{place}/{name} is no text")
        role = "user" if item["role"] == "user" else "assistant"
        entry = {"role": role, "text": item["text"]}
        if role == "assistant":
            entry |= {name: item[name] for name in ("agency", "service") if item.get(name)}
        told.append(entry)
    return tuple(told)


def _expected(row: Mapping[str, Any]) -> Expected:
    if not isinstance(row.get("inquiry"), bool):
        raise MalformedCase("expected/inquiry is neither true nor false")
    for name in ("agencies", "service"):
        if name not in row:
            raise MalformedCase(f"expected/{name} is missing (null means: not labelled)")
    agencies = row["agencies"]
    if agencies is not None:
        agencies = frozenset(_texts("expected/agencies", agencies))
    service = row["service"]
    if not isinstance(service, str | None):
        raise MalformedCase("expected/service is neither a text nor null")
    acceptable = _texts("expected/acceptable_services", row.get("acceptable_services") or [])
    services = frozenset(acceptable) | ({service} if service else frozenset())
    if not row["inquiry"] and (agencies or services):
        raise MalformedCase("expected: no inquiry, and yet agencies or services")
    return Expected(row["inquiry"], agencies, services)


def _texts(name: str, values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
        raise MalformedCase(f"{name} is no list of texts")
    return values

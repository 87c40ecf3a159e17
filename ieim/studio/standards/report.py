"""What an import could not take over, for a person to read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

_SHOWN_PROBLEMS = 100
_KINDS_KEPT = 2_000
_INDEX = re.compile(r"/[0-9]+(?=/|$)")

What = Literal["left out", "changed"]


@dataclass(slots=True)
class Note:
    """One kind of thing that happened, how many times, and where first.

    ``pattern`` is a JSON Pointer in which ``*`` stands for any place in a list, ``first`` the whole
    pointer of the first time.
    """

    what: What
    pattern: str
    why: str
    first: str
    times: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be used, and where: a JSON Pointer, "" for the whole file."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the file'}: {self.message}"


class StandardError(Exception):
    """A file cannot be imported; ``problems`` has every reason that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems[:_SHOWN_PROBLEMS]))


@dataclass(slots=True)
class Report:
    """Collects notes and problems; equal notes are counted.

    ``unread_contexts`` are the addresses of contexts of JSON-LD that nobody can read here, with
    their pointers: they may be why something is not understood.
    """

    problems: list[Problem] = field(default_factory=list)
    unread_contexts: dict[str, str] = field(default_factory=dict)
    _notes: dict[tuple[What, str, str], Note] = field(default_factory=dict)

    def left_out(self, pointer: str, why: str) -> None:
        """Note that the value at ``pointer`` does not reach the draft."""
        self._add("left out", pointer, why)

    def changed(self, pointer: str, why: str) -> None:
        """Note that the value at ``pointer`` reaches the draft in another form."""
        self._add("changed", pointer, why)

    def problem(self, pointer: str, message: str) -> None:
        self.problems.append(Problem(pointer, message))

    def check(self) -> None:
        if self.problems:
            contexts = [
                Problem(pointer, f"the context {address[:200]} could not be read: none is fetched")
                for address, pointer in self.unread_contexts.items()
            ]
            raise StandardError([*self.problems, *contexts[:10]])

    @property
    def notes(self) -> list[Note]:
        """The notes, what was left out first, then by pointer."""
        return sorted(self._notes.values(), key=lambda note: (note.what != "left out", note.first))

    def _add(self, what: What, pointer: str, why: str) -> None:
        key = (what, _INDEX.sub("/*", pointer), why)
        if key not in self._notes and len(self._notes) >= _KINDS_KEPT:
            pointer, key = "", (what, "", "kinds of notes beyond the first are not listed")
        self._notes.setdefault(key, Note(*key, first=pointer)).times += 1

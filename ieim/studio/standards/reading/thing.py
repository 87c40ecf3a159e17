"""A JSON object that remembers what was read of it, so that the rest can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ieim.pipeline.findings import pointer
from ieim.studio.standards.reading.texts import plain
from ieim.studio.standards.report import Report

NO_PLACE = "the index has no place for it"


class Thing:
    """An object of a file, at the JSON Pointer ``at``."""

    def __init__(self, value: Mapping[str, Any], at: str, report: Report) -> None:
        self.at = at
        self._value = value
        self._report = report
        self._read: set[str] = set()
        self._inner: dict[str, list[Thing]] = {}

    def has(self, *names: str) -> bool:
        """Whether one of the members is there and not empty."""
        return any(self._value.get(name) not in (None, "", [], {}) for name in names)

    def where(self, name: str) -> str:
        """Return the pointer of a member."""
        return self.at + pointer(name)

    def text(self, name: str) -> str:
        """Return a member as text without markup, "" where it is missing or none."""
        value = self._value.get(name)
        self._read.add(name)
        if isinstance(value, str):
            return plain(value, self.where(name), self._report)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return str(value)
        if value not in (None, [], {}):
            self._report.left_out(self.where(name), "is no text")
        return ""

    def things(self, name: str) -> Sequence[Thing]:
        """Return the objects of a member: of a list, or the only one."""
        if name not in self._inner:
            self._read.add(name)
            value = self._value.get(name)
            listed = isinstance(value, list)
            items = value if isinstance(value, list) else [] if value is None else [value]
            found = []
            for index, item in enumerate(items):
                at = self.where(name) + (pointer(index) if listed else "")
                if isinstance(item, dict):
                    found.append(Thing(item, at, self._report))
                elif item not in (None, ""):
                    self._report.left_out(at, "is no object")
            self._inner[name] = found
        return self._inner[name]

    def skip(self, *names: str) -> None:
        """Take members for read: they only hold the file together."""
        self._read.update(names)

    def leave(self, name: str, why: str) -> None:
        """Note that a member is left out, if it is there."""
        self._read.add(name)
        if self.has(name):
            self._report.left_out(self.where(name), why)

    def tell_rest(self) -> None:
        """Note every member that nobody has read, here and in the objects that were read."""
        for name in self._value:
            if name not in self._read and self.has(name):
                self._report.left_out(self.where(name), NO_PLACE)
        for things in self._inner.values():
            for thing in things:
                thing.tell_rest()

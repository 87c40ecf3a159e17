"""A file of an open standard, read whole: which standard it is, and what it describes."""

from __future__ import annotations

from typing import Any

from ieim.studio.standards.found import Mapped, mapped
from ieim.studio.standards.reading.government import read_json_ld
from ieim.studio.standards.reading.hsds import read_hsds
from ieim.studio.standards.reading.jsonfile import read_json
from ieim.studio.standards.report import Problem, Report, StandardError

_KEYWORDS = frozenset({"@context", "@graph", "@id", "@type"})


def read_standard(data: bytes, *, into: str | None = None) -> tuple[Mapped, Report]:
    """Return the rows of a file and the report of what has no place in them.

    ``into`` is the agency that it is for (see :func:`ieim.studio.standards.found.mapped`).
    Raises :class:`ieim.studio.standards.report.StandardError` with every reason why the file
    cannot be used.
    """
    value = read_json(data)
    report = Report()
    finds = (read_json_ld if _is_json_ld(value) else read_hsds)(value, report)
    report.check()
    rows = mapped(finds, into=into)
    if not any(rows.rows.values()):
        raise StandardError([Problem("", "has nothing that could be taken over")])
    return rows, report


def _is_json_ld(value: Any) -> bool:
    if isinstance(value, list):
        return any(_is_json_ld(item) for item in value if isinstance(item, dict))
    return isinstance(value, dict) and not _KEYWORDS.isdisjoint(value)

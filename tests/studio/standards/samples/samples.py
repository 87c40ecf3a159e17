"""Small files of the open standards, made for these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ieim.knowledge.bundles.rows import Table
from ieim.studio.standards.report import Report, StandardError
from ieim.studio.standards.rows import Mapped
from ieim.studio.standards.services import read_standard

HERE = Path(__file__).parent
HSDS = HERE / "housing_hsds.json"
SCHEMA_ORG = HERE / "passports.jsonld"
CPSV = HERE / "tax_cpsv.jsonld"
PASSPORTS = "passports-example-office-3054854a7441"
RENEW = "renew-a-passport-d3aa2fb907bf"
"""The ids that the addresses of the agency and a service in the second file become."""


def read(content: Any, *, into: str | None = None) -> tuple[Mapped, Report]:
    """Read a file's path, or a value as a file."""
    data = content.read_bytes() if isinstance(content, Path) else json.dumps(content).encode()
    return read_standard(data, into=into)


def problems(content: Any, *, into: str | None = None) -> list[str]:
    """Why a file cannot be used, each as "pointer: sentence"."""
    with pytest.raises(StandardError) as caught:
        read(content, into=into)
    return [str(problem) for problem in caught.value.problems]


def row(mapped: Mapped, table: Table, *identity: str) -> dict[str, Any]:
    """The columns of one row that the file gave."""
    return mapped.rows[table][identity]


def notes(report: Report) -> list[str]:
    """The report: "what times pattern: why"."""
    return [f"{note.what} {note.times} {note.pattern}: {note.why}" for note in report.notes]

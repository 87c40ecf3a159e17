"""Bundles for the knowledge tests: as values, and written to disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from ieim.knowledge.bundles.bundle import BundleError, read_bundle

Tables: TypeAlias = dict[str, list[dict[str, Any]]]


def tables() -> Tables:
    """A small good bundle; change it and write it."""
    return {
        "agencies": [
            {
                "id": "passports",
                "name": "Passport Office",
                "path": "https://passports.example",
                "description": "Issues passports",
            },
            {"id": "tax", "name": "Revenue Service"},
        ],
        "dictionary": [
            {"agency": "passports", "key": "travel", "value": "Travel", "keywords": ["holiday"]},
            {"agency": "tax", "key": "income", "value": "Income tax"},
        ],
        "services": [
            {
                "agency": "passports",
                "key": "renew",
                "name": "Renew a passport",
                "path": "Home > Travel > Passports",
                "overview": "For a passport that runs out.",
                "applicability_summary": "Citizens",
                "categories": ["travel"],
                "requirements": ["A photo", "The old passport"],
                "fees": "80 crowns",
                "processing_time": "3 weeks",
                "how_to_apply": ["Fill in the form", "Pay"],
                "contact": "+999 1 555 0100",
                "url": "https://passports.example/renew",
            },
            {"agency": "tax", "key": "return", "name": "File a tax return"},
        ],
        "labels": [
            {
                "set": "intents",
                "code": "apply",
                "name": "Apply",
                "description": "Wants to apply",
                "threshold": 0.6,
            },
            {"set": "urgencies", "code": "today", "name": "Today", "effect": "240"},
            {"set": "risk_flags", "code": "threat", "name": "Threat", "effect": "escalate"},
        ],
    }


def write(folder: Path, content: Mapping[str, list[dict[str, Any]]]) -> Path:
    """Write ``content`` as JSON Lines into ``folder`` and return it."""
    folder.mkdir(exist_ok=True)
    for table, rows in content.items():
        lines = [json.dumps(row) + "\n" for row in rows]
        (folder / f"{table}.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def write_yaml(path: Path, content: Mapping[str, list[dict[str, Any]]]) -> Path:
    """Write ``content`` as one YAML file and return its path."""
    path.write_text(yaml.safe_dump(dict(content), sort_keys=False), encoding="utf-8")
    return path


def errors(path: Path) -> list[str]:
    """What is wrong with the bundle, as "file:line: message" without the folder."""
    with pytest.raises(BundleError) as caught:
        read_bundle(path)
    return [str(error).replace(f"{path}/", "") for error in caught.value.errors]


def one_error(path: Path) -> str:
    """The only thing that is wrong."""
    (error,) = errors(path)
    return error

"""The version of the software: pyproject.toml says it, and nothing else does."""

from __future__ import annotations

import tomllib
from pathlib import Path


def read(pyproject: Path) -> str:
    """Return the version that a ``pyproject.toml`` gives its project."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return str(project["version"])

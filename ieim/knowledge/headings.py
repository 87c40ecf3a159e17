"""The headings of an answer, which conversations and the editors' pages show alike."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml


@cache
def headings() -> Mapping[str, str]:
    """Return the headings in English, by the field of a service."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    names: Mapping[str, str] = yaml.safe_load(text)
    return names

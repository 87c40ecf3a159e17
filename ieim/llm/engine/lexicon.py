"""The engine's word lists and forms, read once from ``lexicon.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ieim.search.clauses import any_of, stems


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Word lists as sets of stems, forms as compiled patterns over folded text."""

    public: frozenset[str]
    public_too: frozenset[str]
    off_topic: frozenset[str]
    off_topic_too: frozenset[str]
    urgent: frozenset[str]
    urgent_labels: frozenset[str]
    ordinary_labels: frozenset[str]
    need: re.Pattern[str]
    wish: re.Pattern[str]
    for_an_agency: re.Pattern[str]
    personal: re.Pattern[str]
    happened: re.Pattern[str]
    procedure: re.Pattern[str]
    information: re.Pattern[str]
    greeting: re.Pattern[str]
    small_talk: re.Pattern[str]
    answers: re.Pattern[str]
    complaints: re.Pattern[str]
    about_the_assistant: re.Pattern[str]
    off_topic_forms: re.Pattern[str]
    soft_breaks: re.Pattern[str]
    intents: tuple[tuple[frozenset[str], re.Pattern[str]], ...]


@cache
def lexicon() -> Lexicon:
    """Return the lexicon; the file is part of the package, so that a fault in it is a bug."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    intents = data.pop("intents")
    read: dict[str, Any] = {
        name: frozenset(stems(value)) if isinstance(value, str) else any_of(value)
        for name, value in data.items()
        if name in {field.name for field in fields(Lexicon)}
    }
    return Lexicon(
        **read,
        intents=tuple(
            (frozenset(stems(each["called"])), any_of(each["forms"])) for each in intents
        ),
    )

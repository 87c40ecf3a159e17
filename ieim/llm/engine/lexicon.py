"""The engine's own words, read once from ``lexicon.yaml`` beside this file."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
    data: dict[str, Any] = yaml.safe_load(
        Path(__file__).with_name("lexicon.yaml").read_text(encoding="utf-8")
    )
    return Lexicon(
        public=frozenset(stems(data["public"])),
        public_too=frozenset(stems(data["public_too"])),
        off_topic=frozenset(stems(data["off_topic"])),
        off_topic_too=frozenset(stems(data["off_topic_too"])),
        urgent=frozenset(stems(data["urgent"])),
        urgent_labels=frozenset(stems(data["urgent_labels"])),
        ordinary_labels=frozenset(stems(data["ordinary_labels"])),
        need=any_of(data["need"]),
        wish=any_of(data["wish"]),
        personal=any_of(data["personal"]),
        happened=any_of(data["happened"]),
        procedure=any_of(data["procedure"]),
        information=any_of(data["information"]),
        greeting=any_of(data["greeting"]),
        small_talk=any_of(data["small_talk"]),
        answers=any_of(data["answers"]),
        complaints=any_of(data["complaints"]),
        about_the_assistant=any_of(data["about_the_assistant"]),
        off_topic_forms=any_of(data["off_topic_forms"]),
        soft_breaks=any_of(data["soft_breaks"]),
        intents=tuple(
            (frozenset(stems(each["called"])), any_of(each["forms"])) for each in data["intents"]
        ),
    )

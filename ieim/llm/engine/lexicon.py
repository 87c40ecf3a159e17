"""The engine's own words, read once from ``lexicon.yaml`` beside this file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ieim.llm.engine.words import stems


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Word lists as sets of stems, forms as compiled patterns over folded text."""

    public: frozenset[str]
    public_too: frozenset[str]
    off_topic: frozenset[str]
    topicless: frozenset[str]
    urgent: frozenset[str]
    urgent_labels: frozenset[str]
    ordinary_labels: frozenset[str]
    need: re.Pattern[str]
    personal: re.Pattern[str]
    happened: re.Pattern[str]
    information: re.Pattern[str]
    small_talk: re.Pattern[str]
    answers: re.Pattern[str]
    about_the_assistant: re.Pattern[str]
    off_topic_forms: re.Pattern[str]
    follow_up: re.Pattern[str]
    clause_breaks: re.Pattern[str]
    soft_breaks: re.Pattern[str]
    to_a_machine: re.Pattern[str]


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
        topicless=frozenset(stems(data["topicless"])),
        urgent=frozenset(stems(data["urgent"])),
        urgent_labels=frozenset(stems(data["urgent_labels"])),
        ordinary_labels=frozenset(stems(data["ordinary_labels"])),
        need=_any_of(data["need"]),
        personal=_any_of(data["personal"]),
        happened=_any_of(data["happened"]),
        information=_any_of(data["information"]),
        small_talk=_any_of(data["small_talk"]),
        answers=_any_of(data["answers"]),
        about_the_assistant=_any_of(data["about_the_assistant"]),
        off_topic_forms=_any_of(data["off_topic_forms"]),
        follow_up=_any_of(data["follow_up"]),
        clause_breaks=_any_of(data["clause_breaks"]),
        soft_breaks=_any_of(data["soft_breaks"]),
        to_a_machine=_any_of(data["to_a_machine"]),
    )


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)

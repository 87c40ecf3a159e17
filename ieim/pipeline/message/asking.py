"""Asking for a person: the citizen's own wish, told by the form of what they write.

The forms stand in ``asking.yaml``, by language: a verb of speaking, calling or looking at
something, and a person in general. They are read in the message without case and accents.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import TypedDict

import yaml

from ieim.pipeline.message.closing import plain_letters

FLAG = "person_wanted"

# Han has no spaces: a word may begin and end anywhere in it.
_BEFORE, _AFTER = r"(?<![^\W\u4e00-\u9fff])", r"(?![^\W\u4e00-\u9fff])"
_APOSTROPHES = str.maketrans("’‘´`", "''''")
_PART = re.compile(r"<(\w+)>")


class _Language(TypedDict):
    parts: dict[str, str]
    forms: list[str]
    ordinary: list[str]


def find(text: str) -> tuple[int, int] | None:
    """Return where ``text`` first asks for a person, as half-open code points; None if nowhere."""
    plain, at = plain_letters(text.translate(_APOSTROPHES))
    places = []
    for forms, ordinary in _languages():
        found = [match.span() for form in forms for match in form.finditer(plain)]
        if found:
            let = [match.span() for form in ordinary for match in form.finditer(plain)]
            places += [
                (start, end)
                for start, end in found
                if not any(start < until and begun < end for begun, until in let)
            ]
    if not places:
        return None
    start, end = min(places)
    return at[start], at[end - 1] + 1


@cache
def _languages() -> tuple[tuple[list[re.Pattern[str]], list[re.Pattern[str]]], ...]:
    path = Path(__file__).with_name("asking.yaml")
    languages: dict[str, _Language] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        (
            [_compiled(form, each["parts"]) for form in each["forms"]],
            [_compiled(form, each["parts"]) for form in each["ordinary"]],
        )
        for each in languages.values()
    )


def _compiled(form: str, parts: dict[str, str]) -> re.Pattern[str]:
    while _PART.search(form):
        form = _PART.sub(lambda part: f"(?:{parts[part[1]]})", form)
    filler = parts["filler"].replace(" ", r"\s+")
    form = form.replace(" ?", r"\s*")
    spaced = form.replace(" ", rf"[\s,]+(?:(?:{filler})[\s,]+){{0,2}}")
    apart = unicodedata.normalize("NFD", spaced)
    marked = "".join(c for c in apart if unicodedata.category(c) != "Mn")
    return re.compile(rf"{_BEFORE}(?:{marked}){_AFTER}")

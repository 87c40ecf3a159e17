"""A language that nobody speaks: what is translated comes in marks, so that the rest stands out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser

import pytest
from django.utils import translation
from django.utils.translation import trans_real

from tests.conversations.languages.reading import TOLD

BEGIN, END = "⟦", "⟧"
_INNERMOST = re.compile(f"{BEGIN}[^{BEGIN}{END}]*{END}")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_VOID = frozenset(("br", "hr", "img", "input", "link", "meta"))
_SKIPPED = ("script", "style", "pre", "code", "kbd")
"""Elements without sentences: programs, codes, and the names of keys."""
_ANSWER = "answer"
"""The class of what a citizen reads: it has a language of its own."""


def speak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything that is translated come in marks."""
    for name in ("gettext", "pgettext", "ngettext", "npgettext"):
        monkeypatch.setattr(translation._trans, name, _marking(name))  # type: ignore[attr-defined]


def _marking(name: str) -> object:
    real = getattr(trans_real, name)

    def marked(*said: object) -> str:
        return f"{BEGIN}{real(*said)}{END}" if any(said) else ""

    return marked


class Reader(HTMLParser):
    """Reads the main part and the title of a page; ``found`` is what is told without marks.

    A sentence may have elements in it: what stands between its marks is followed across them.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        # A part of a page that htmx puts into one has neither.
        self._all = "<main" not in html
        self._open: list[tuple[str, bool]] = []
        self._inside = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at what an element's attributes tell."""
        said = {name: value or "" for name, value in attrs}
        read = self._open[-1][1] if self._open else self._all
        read = read or tag in ("main", "title")
        for name, value in said.items():
            told = name in TOLD or (name.startswith("data-") and " " in value)
            button = tag == "input" and name == "value" and said.get("type") in ("submit", "button")
            if read and (told or button):
                self._add(_without_marks(value))
        if tag not in _VOID:
            skipped = tag in _SKIPPED or _ANSWER in said.get("class", "").split()
            self._open.append((tag, read and not skipped))

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those in it that nobody closes."""
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Take of a text what stands in no marks."""
        kept = []
        for part in re.split(f"([{BEGIN}{END}])", data):
            self._inside += (part == BEGIN) - (part == END)
            if part not in (BEGIN, END):
                kept.append("" if self._inside else part)
        if self._open and self._open[-1][1]:
            self._add(" ".join(kept))

    def _add(self, text: str) -> None:
        text = " ".join(text.split())
        if _LETTERS.search(text):
            self.found.append(text)


def _without_marks(text: str) -> str:
    while _INNERMOST.search(text):
        text = _INNERMOST.sub(" ", text)
    return text


def outside(html: str) -> set[str]:
    """Return what a page tells in its main part and its title without marks."""
    return set(Reader(html).found)


def unmarked(told: Iterable[str], data: set[str], written: set[str]) -> set[str]:
    """Return which of ``told`` is a sentence of ours.

    ``data`` are names and codes, and what people have ``written`` may be there in parts.
    """
    known = sorted(data, key=len, reverse=True)
    return {
        text
        for text in told
        if not _of_people(text, written) and not _of_people(_without(text, known), written)
    }


def _without(text: str, known: list[str]) -> str:
    for each in known:
        if each in text:
            text = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", " ", text)
    return " ".join(text.split())


def _of_people(text: str, written: set[str]) -> bool:
    text = text.strip(" :.,…")
    return not _LETTERS.search(text) or any(text in each for each in written)

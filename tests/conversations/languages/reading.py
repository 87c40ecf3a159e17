"""What a page says, and in which language."""

from __future__ import annotations

import re
from html.parser import HTMLParser

TOLD = ("title", "aria-label", "placeholder", "alt")
"""Attributes that people are told; sentences for scripts are in some that begin with ``data-``."""
CITIZENS = ("message__text", "answer__own", "answer__left", "govuk-textarea")
"""What citizens wrote themselves."""
_VOID = frozenset(("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"))


class Reader(HTMLParser):
    """Reads a page; ``found`` are its texts with the language that each is marked as."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._open: list[tuple[str, str, bool]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of an element's language, and of what its attributes say."""
        by_key = {name: value or "" for name, value in attrs}
        _, language, skipped = self._open[-1] if self._open else ("", "", False)
        language = by_key.get("lang", language)
        is_content = any(name in by_key.get("class", "").split() for name in CITIZENS)
        skipped = skipped or is_content or tag in ("script", "style")
        for name, value in by_key.items():
            matches = name in TOLD or (name.startswith("data-") and " " in value)
            if matches and not skipped:
                self._add(value, language)
        if tag not in _VOID:
            self._open.append((tag, language, skipped))

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those in it that nobody closes."""
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Take a text."""
        if self._open and not self._open[-1][2]:
            self._add(data, self._open[-1][1])

    def _add(self, text: str, language: str) -> None:
        text = re.sub(r"\s+", " ", text).strip()
        # An address is the same in every language.
        if re.search(r"[^\W\d_]{2}", text) and not re.fullmatch(r"\S+@\S+\.\w+", text):
            self.found.append((text, language))


def texts(html: str, language: str) -> set[str]:
    """Return the texts of a page that are marked as ``language``."""
    return {text for text, result in Reader(html).found if result == language}

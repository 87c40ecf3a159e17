"""A language that nobody speaks: every sentence comes back in ⟦⟧, so what is in none is not marked.

What Django and our own code translate is marked alike. Data is in no marks either: a page shows it
as such (``dir="auto"``, ``lang``, ``bdi``, ``code``), or whoever asks names it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from unittest import mock

from django.conf import settings
from django.utils import translation
from django.utils.translation import trans_real

BEGIN, END = "⟦", "⟧"
_TOLD = ("title", "aria-label", "placeholder", "alt")
_VOID = frozenset(("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"))
_KNOWN = "django.utils.translation.trans_real._translations"
_SILENT = ("script", "style", "code", "pre", "textarea", "bdi")


class Pseudo(trans_real.DjangoTranslation):
    """English in marks; what it knows of the language itself stays the same."""

    def gettext(self, message: str) -> str:
        """Return the sentence in marks."""
        return f"{BEGIN}{message.rpartition(trans_real.CONTEXT_SEPARATOR)[2]}{END}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return the English form in marks."""
        return self.gettext(msgid1 if n == 1 else msgid2)


@contextmanager
def pseudo_language() -> Iterator[None]:
    """Let everything that is in English be in the pseudo-language, staff's pages as well."""
    marked = copy.copy(trans_real.translation(settings.LANGUAGE_CODE))
    marked.__class__ = Pseudo
    with (
        translation.override(settings.LANGUAGE_CODE),  # what is active afterwards is looked up anew
        mock.patch.dict(_KNOWN, {settings.LANGUAGE_CODE: marked}),
        mock.patch.object(trans_real, "_default", marked),
    ):
        yield


class _Reader(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.left: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._within = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        by_key = {name: value or "" for name, value in attrs}
        of_content = by_key.get("dir") == "auto" or by_key.get("lang", "en-gb") != "en-gb"
        silent = (bool(self._open) and self._open[-1][1]) or tag in _SILENT or of_content
        for name, value in by_key.items():
            pressed = (
                tag == "input"
                and name == "value"
                and by_key.get("type") in ("submit", "button", "reset")
            )
            # What is for scripts is JSON or one word; else it is a sentence.
            sentence = name.startswith("data-") and " " in value and not value.startswith("{")
            if (name in _TOLD or pressed or sentence) and not silent:
                self._note(_outside(value, 0)[0])
        if tag not in _VOID:
            self._open.append((tag, silent))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        outside, self._within = _outside(data, self._within)
        if self._open and not self._open[-1][1]:
            self._note(outside)

    def _note(self, text: str) -> None:
        text = re.sub(r"\s+", " ", text).strip()
        if re.search(r"[^\W\d_]{2}", text):
            self.left.append(text)


def _outside(text: str, within: int) -> tuple[str, int]:
    """Return what of a text is in no marks, and in how many its end is."""
    outside = []
    for sign in text:
        if sign == BEGIN:
            within += 1
            outside.append(" ")
        elif sign == END:
            within -= 1
        elif not within:
            outside.append(sign)
    return "".join(outside), within


def outside(html: str) -> set[str]:
    """Return what a page says in no marks: text and what its attributes tell."""
    return set(_Reader(html).left)


def unmarked(html: str, data: Collection[str] = ()) -> set[str]:
    """Return what a page says in no marks, without ``data``."""
    remaining = set()
    for text in outside(html):
        for entry in sorted((word for word in data if word in text), key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(entry)}(?!\w)", " ", text)
        if re.search(r"[^\W\d_]{2}", text):
            remaining.add(text.strip())
    return remaining

"""Plain text by staff for citizens: one way to read it, whatever page it was typed into."""

from __future__ import annotations

import re

from django.utils.translation import gettext

from ieim.pipeline.message.screen import STRIPPED_CLASS

_UNSHOWABLE = re.compile(f"[\ud800-\udfff{STRIPPED_CLASS}]")
_SPACES = re.compile(r"[^\S\n]+")
_GAPS = re.compile(r" ?\n ?(?:\n ?)+")


class BadText(ValueError):
    """A text that cannot be shown to citizens; ``args[0]`` is the sentence for its author."""


def plain_text(typed: str, *, limit: int, lines: bool = False, wordless: str = "") -> str:
    """Return ``typed`` without spare white space: one paragraph, or with ``lines`` several.

    ``limit`` is in code points of what is returned. ``wordless`` says what to write instead of
    nothing. Raises :class:`BadText`.
    """
    text = typed.replace("\r\n", "\n").replace("\r", "\n").strip()
    if _UNSHOWABLE.search(text):
        raise BadText(gettext("The text has a character that cannot be shown. Type it again."))
    text = _GAPS.sub("\n\n", _SPACES.sub(" ", text)) if lines else " ".join(text.split())
    if not any(character.isalnum() for character in text):
        raise BadText(wordless or gettext("Write what citizens should know."))
    if len(text) > limit:
        told = gettext("The text is {length} characters long; it may have {limit}.")
        raise BadText(told.format(length=f"{len(text):,}", limit=f"{limit:,}"))
    return text

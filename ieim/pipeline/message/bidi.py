"""Characters that turn the direction of a text and that nobody sees: how people are shown them.

Screening takes them out of what models read; the text as sent keeps them. Shown as they are, one of
them could make a message or an answer read as something else than it says.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

CONTROLS: Mapping[str, str] = {
    "\u061c": "ALM",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
"""Unicode's bidi controls with the short names that the standard gives them."""

_SPELLED = {ord(control): f"[{short}]" for control, short in CONTROLS.items()}


def name(control: str) -> str:
    """Return what a control is called: "Right-to-left override"."""
    return unicodedata.name(control).capitalize()


def spelled(text: str) -> str:
    """Return ``text`` for a place of plain text, with ``[RLO]`` where that control stood."""
    return text.translate(_SPELLED)

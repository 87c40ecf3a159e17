"""Screening: what is taken out of a citizen's message before anything reads it; what is refused.

Deterministic, no model. The caller keeps the text as sent: evidence offsets always point there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_CHARS = 2000
"""The longest message that is taken, in Unicode code points of the text as sent."""

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane | 0xFFFE)}-{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)

STRIPPED_CLASS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 without tab and line ends, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi controls
    "\U000e0000-\U000e007f"  # Unicode tags: text that people cannot see and models can
    "\ufff9-\ufffb\ufeff" + _NONCHARACTERS  # annotation, byte order mark
)
"""The body of a regular expression's character class: what :func:`screen` strips."""

ZERO_WIDTH_CLASS = "\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufe0e\ufe0f"
"""Likewise: characters without width that stay in the text (joiners are part of some scripts)."""

_STRIPPED = re.compile(f"[{STRIPPED_CLASS}]")
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
# The last five are letters and a symbol by category, but nothing is drawn for them.
_SHOWS_NOTHING = re.compile(f"[{ZERO_WIDTH_CLASS}\u115f\u1160\u3164\uffa0\u2800]")


@dataclass(frozen=True, slots=True)
class Screened:
    """A screened message: ``text`` and how many characters (code points) were ``removed``."""

    text: str
    removed: int


@dataclass(frozen=True, slots=True)
class NotTaken:
    """Why a message cannot be taken: a sentence in English, with the ``figures`` that it names."""

    sentence: str
    figures: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """The whole sentence in English."""
        return self.sentence.format(**{key: f"{n:,}" for key, n in self.figures.items()})


def screen(text: str) -> Screened:
    """Strip control characters (but not tab and line ends), DEL, bidi controls, Unicode tags,
    interlinear annotation, noncharacters and the byte order mark. Any str is taken."""
    remaining, removed = _STRIPPED.subn("", text)
    return Screened(text=remaining, removed=removed)


def shows_nothing(text: str) -> bool:
    """Whether there is nothing to read in ``text``."""
    return not _SHOWS_NOTHING.sub("", screen(text).text).strip()


def beginning(text: str) -> str:
    """Return as much of ``text`` as a message may have, without what no database stores.

    For looking at a message that is refused: the work is bounded, and what is wrong with the
    message hinders nobody. A message that is not refused comes back as it is.
    """
    return _NOT_STORABLE.sub("", text[:MAX_CHARS])


def refusal(text: str) -> NotTaken | None:
    """Return the notice for the citizen when the message is refused; None when it is accepted.

    Refused are: a NUL or a lone surrogate (no database stores them), nothing to read, and more
    than :data:`MAX_CHARS` code points.
    """
    if _NOT_STORABLE.search(text):
        return NotTaken(
            "Your message has a character in it that we cannot store. "
            "Please type the message again, or paste it as plain text."
        )
    if shows_nothing(text):
        return NotTaken(
            "There is no text in your message yet. Please write your question and send it again."
        )
    if len(text) > MAX_CHARS:
        return NotTaken(
            "Your message is {length} characters long. We can take up to {limit}. "
            "Please shorten it, or send the most important part first.",
            {"length": len(text), "limit": MAX_CHARS},
        )
    return None


BIDI_CONTROLS: Mapping[str, str] = {
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
"""Unicode's bidi controls by the short names of the standard, under which people are shown them: as
they are, one could make a text read as something else than it says."""

_SPELLED = {ord(control): f"[{short}]" for control, short in BIDI_CONTROLS.items()}


def bidi_name(control: str) -> str:
    """Return the Unicode name of a control, such as "Right-to-left override"."""
    return unicodedata.name(control).capitalize()


def spelled(text: str) -> str:
    """Return ``text`` with each bidi control as its short name in brackets, such as ``[RLO]``."""
    return text.translate(_SPELLED)

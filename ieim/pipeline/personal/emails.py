"""E-mail addresses in a reading."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ieim.pipeline.facts.reading import MARKS
from ieim.pipeline.personal.found import Found

# A local part is tried only where it begins, and nothing in it is given back: linear.
_LOCAL = rf"\w{MARKS}.+%'&-"
_LABEL = rf"[\w{MARKS}-]++"
_EMAIL = re.compile(rf"(?<![{_LOCAL}])[{_LOCAL}]++@{_LABEL}(?:\.{_LABEL})+")


def hits(text: str) -> Iterator[Found]:
    """Yield every e-mail address; international ones too."""
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        address = match[0].lstrip("'.-&").rstrip("-_")
        start = match.start() + match[0].index(address)
        yield Found("EMAIL", start, start + len(address))

"""Numbers that are spread out in a reading: over line ends, or one character at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ieim.pipeline.personal import codes, numbers
from ieim.pipeline.personal.found import SURE, Budget, Found

_ONE_BY_ONE = re.compile(
    r"(?<![^\W_])[A-Za-z0-9](?:[\s.,:_/-]{1,3}[A-Za-z0-9](?![^\W_])){6,}(?![^\W_])"
)
_LEAST_DIGITS = 6


def hits(text: str) -> Iterator[Found]:
    """Yield what stands over several lines and is sure, and what is spelled out."""
    # Its own checks: many lines of figures use up nothing of what the text itself may cost.
    if "\n" in text:
        # A line end is one character, so every offset stays what it is.
        for found in _checked(text.replace("\n", " "), Budget()):
            if "\n" in text[found.start : found.end] and found.certainty == SURE:
                yield found
    budget = Budget()
    for run in _ONE_BY_ONE.finditer(text):
        places = [at for at in range(*run.span()) if text[at].isalnum()]
        joined = "".join(text[at] for at in places)
        if sum(character.isdigit() for character in joined) >= _LEAST_DIGITS:
            for found in _checked(joined, budget):
                start, end = places[found.start], places[found.end - 1] + 1
                yield found._replace(start=start, end=end)


def _checked(text: str, budget: Budget) -> Iterator[Found]:
    for found in (*codes.hits(text, budget), *numbers.hits(text, (), budget)):
        # Not what nobody could check any more.
        if found.kind != "PHONE" and not budget.exhausted:
            yield found

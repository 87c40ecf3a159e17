"""What a message may be, as :meth:`~ieim.pipeline.ports.Shortlist.kinds` tells it."""

from __future__ import annotations

from typing import Final

from ieim.pipeline.ports import Shortlist

INQUIRY: Final = "inquiry"
CORRECTION: Final = "correction"
"""The last answer is about something else than was meant."""
NEXT: Final = "next"
"""The steps of the last answer are done, or known: what comes after them?"""
FOLLOW_UP: Final = "follow_up"
"""It goes on with what the last answer was about."""
WANTS_PERSON: Final = "wants_person"

INQUIRIES: Final = frozenset({INQUIRY, CORRECTION, NEXT, FOLLOW_UP})
"""The kinds of messages that ask something of an administration."""

SURE: Final = 0.8
"""From this probability on a message wants a person."""


def kind_of(text: str, shortlist: Shortlist) -> str:
    """Return the most probable kind of a message, an inquiry where nothing tells it."""
    kinds = shortlist.kinds(text)
    return max(kinds, key=lambda kind: kinds[kind], default=INQUIRY)

"""States of a review item: enum and transition table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class ReviewState(StrEnum):
    """States of a review item."""

    OPEN = "open"
    """Waits for somebody to claim it."""
    CLAIMED = "claimed"
    """A caseworker works on it."""
    DECIDED = "decided"
    """A person decided, and the turn went on or was closed."""
    SENDING = "sending"
    """A decision takes effect within seconds, unless it is taken back."""
    SECOND_OPINION = "second_opinion"
    """One person decided; another has to agree or to sign before anything happens."""


TRANSITIONS: Mapping[ReviewState, frozenset[ReviewState]] = {
    ReviewState.OPEN: frozenset({ReviewState.CLAIMED, ReviewState.DECIDED}),
    ReviewState.CLAIMED: frozenset(
        {
            ReviewState.OPEN,
            ReviewState.DECIDED,
            ReviewState.SECOND_OPINION,
            ReviewState.SENDING,
        }
    ),
    ReviewState.SENDING: frozenset({ReviewState.CLAIMED, ReviewState.OPEN, ReviewState.DECIDED}),
    ReviewState.SECOND_OPINION: frozenset(
        {ReviewState.CLAIMED, ReviewState.OPEN, ReviewState.DECIDED}
    ),
    ReviewState.DECIDED: frozenset(),
}
"""``second_opinion → claimed`` is the second person's claim; ``→ decided`` the last signature,
which needs none; ``→ open`` a decision taken back. ``sending → claimed``: its author has taken it
back in time; ``→ open``: it could not take effect. ``open → decided``: the citizen has taken their
request for a person back."""

UNDECIDED: frozenset[ReviewState] = frozenset(ReviewState) - {ReviewState.DECIDED}
"""States in which the turn still waits for this item: at most one a stage of a turn."""

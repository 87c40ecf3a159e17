"""Grouping of questions by meaning: each joins the nearest group, or begins one.

Questions are taken in the order in which they were asked and compared with the first question of
each group, so that the same questions always make the same groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ieim.search.analysis import stems
from ieim.studio.models import Gap

LEAST: Final = 0.70
LEAST_OF_SERVICE: Final = 0.40
"""The cosine from which on two questions are in one group; less is enough where both are likely
about the same service. With the embedded model and 400 of the demo's example questions that the
search had not seen, 75 of 100 pairs so found were of one service, and 22 of 100 pairs of one
service were found."""

LEAST_WORDS: Final = 0.5
LEAST_WORDS_OF_SERVICE: Final = 0.1
"""The same for the share of common words, where there are no vectors to compare: 79 and 18."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The first question of a group, as others are compared with it."""

    group_id: int
    service: str
    embedder: str
    vector: bytes
    words: frozenset[str]

    @classmethod
    def of(cls, gap: Gap) -> Leader:
        words = frozenset(stems(gap.text))
        return cls(gap.group_id, gap.service, gap.embedder, bytes(gap.vector), words)


def nearest(gap: Gap, leaders: Iterable[Leader]) -> int | None:
    """Return the group that a question joins, the oldest of those equally near; None for none."""
    words = frozenset(stems(gap.text))
    best: tuple[float, int] | None = None
    for leader in leaders:
        same = bool(gap.service) and gap.service == leader.service
        if gap.vector and gap.embedder == leader.embedder:
            likeness = float(_row(bytes(gap.vector)) @ _row(leader.vector))
            least = LEAST_OF_SERVICE if same else LEAST
        else:
            likeness = len(words & leader.words) / (len(words | leader.words) or 1)
            least = LEAST_WORDS_OF_SERVICE if same else LEAST_WORDS
        if likeness >= least and (best is None or (likeness, -leader.group_id) > best):
            best = likeness, -leader.group_id
    return None if best is None else -best[1]


def _row(vector: bytes) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.frombuffer(vector, dtype="<f4")

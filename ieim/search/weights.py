"""What each likeness counts in the ranking: docs/decisions/0073-one-ranking.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Weights:
    """What each likeness counts, in the order of :meth:`ieim.search.ranking.Search.features`, for a
    service that has example questions and for one that has none; ``none`` is what "none of them"
    starts with, ``background`` what its likeness to the background counts.

    In a talk ``before`` is the share of the questions before, and ``unanswered`` that share where
    no service was answered or offered: they alone say then what it is about. ``about`` is what the
    talk's services get, and ``going_on`` what they get for each e-fold of the odds that the message
    goes on and does not ask anew, or correct, which counts ``correcting``; ``outside`` is what
    "none of them" gets.
    """

    asked: tuple[float, ...]
    unasked: tuple[float, ...]
    none: float
    background: float = 0.0
    before: float = 0.2
    unanswered: float = 0.8
    about: float = 4.0
    going_on: float = 0.0
    correcting: float = 4.0
    outside: float = 0.0


MEANING: Final = Weights(
    asked=(14.46, 11.67, -4.87, 0.0, 3.73, 3.74, 0.0),
    unasked=(17.25, 0.0, 0.0, 1.96, 2.9, 2.54, 1.77),
    none=2.6,
    background=11.11,
    before=0.2,
    about=6.0,
    going_on=2.04,
    outside=0.2,
)
WORDS: Final = Weights(
    asked=(0.0, 0.0, 0.0, 0.0, 0.0, 5.01, 2.25),
    unasked=(0.0, 0.0, 0.0, 0.0, 0.0, 4.42, 3.37),
    none=2.0,
    background=16.0,
    about=7.0,
    going_on=1.0,
)
"""Without an embedder."""

"""What a recogniser returns, and how much a message may make the libraries work."""

from __future__ import annotations

from typing import NamedTuple

SURE, LIKELY = range(2)
"""How certain a find is: checked or said to be so, or by its looks."""

MOST_CHECKS = 150
"""Checks by a library that one message may cost; numbers after that are taken unchecked."""


class Found(NamedTuple):
    """Personal data of a ``kind``, at half-open offsets into what was searched."""

    kind: str
    start: int
    end: int
    certainty: int = SURE


class Budget:
    """Counts the checks of one message."""

    def __init__(self) -> None:
        self.spent = 0

    def spend(self) -> None:
        """Count one check."""
        self.spent += 1

    @property
    def exhausted(self) -> bool:
        """Whether no more checks may be made."""
        return self.spent >= MOST_CHECKS

"""What the citizen is asked to choose from, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class OptionView:
    """A service that the citizen may choose; ``number`` counts from 1, ``line`` may be empty."""

    number: int
    agency: str
    service: str
    name: str
    agency_name: str
    line: str


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """What the citizen is asked to choose from, and until when.

    ``reason``: the assistant is ``unsure``, or read the message in a ``language`` that nothing is
    in. ``language`` is that of the options, ``notice`` says so where it is not the citizen's.
    """

    options: tuple[OptionView, ...]
    until: datetime
    language: str
    reason: Literal["unsure", "language"] = "unsure"
    notice: str = ""

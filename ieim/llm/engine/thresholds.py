"""The probabilities from which the offline engine is sure enough. All are from 0 to 1."""

from __future__ import annotations

from typing import Final

NOT_INQUIRY: Final = 0.80
"""A message is no inquiry where another kind is at least so probable."""

OUTSIDE: Final = 0.50
"""No agency is named where it is at least so probable that no service is about the message."""

SURE_ENOUGH: Final = 0.65
"""The service ranked first is the answer where it is right with at least this probability."""

SURE_TO_GO_ON: Final = 0.90
"""The same where the service ranked first is one that the talk is about: a change of subject reads
much like going on, and who is asked back loses little."""

SITUATION: Final = 0.60
"""A message tells of the nearest situation where that is at least so probable."""

"""What is shown of a question that waits for a person, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.chat.replies import CardView


@dataclass(frozen=True, slots=True)
class ReachView:
    """How people can be reached meanwhile: ``telephone`` as it is written, ``link`` as it is
    dialled, both empty where there is none; ``hours`` are sentences, and so is ``closed``, empty
    while people are there."""

    telephone: str
    link: str
    hours: tuple[str, ...]
    closed: str


@dataclass(frozen=True, slots=True)
class WaitingView:
    """Why a question waits (``reason``, a name of the words), and what there is until then.

    ``reach`` is None where nothing is set. ``may_help`` are services as they stand in the service
    list, at most three, none where somebody may be in danger.
    """

    reason: str
    reach: ReachView | None
    may_help: tuple[CardView, ...]

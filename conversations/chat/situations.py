"""The checklist of a situation as the chat page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conversations.chat.presenters import CardView


@dataclass(frozen=True, slots=True)
class StepCardView:
    """A service of a situation; ``condition`` says for whom it is, empty for everybody."""

    card: CardView
    condition: str


@dataclass(frozen=True, slots=True)
class SituationView:
    """The checklist of a situation: ``language`` is that of its name and its conditions, empty
    where it is the reply's. ``is_open`` as in :class:`ieim.pipeline.reply.checklist.Checklist`."""

    key: str
    name: str
    language: str
    is_open: bool
    steps: tuple[StepCardView, ...]

"""What the assistant asked a citizen back."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext

from conversations.models import Turn
from conversations.turns import choosing
from conversations.turns.choosing import OptionView
from ieim.pipeline.knowledge import Release
from review.item.sections import wording


@dataclass(frozen=True, slots=True)
class AskedBack:
    """What the citizen was offered, and what they made of it; ``chosen`` is an option's number,
    0 for none."""

    options: tuple[OptionView, ...]
    ended: str
    chosen: int


def asked_back(turn: Turn, release: Release) -> AskedBack | None:
    """Return what the citizen of a turn was asked, None where they never were."""
    choice = choosing.choice_of(turn)
    if choice is None:
        return None
    chosen = choice.offered.index(choice.chosen) + 1 if choice.chosen in choice.offered else 0
    options = choosing.options(choice, release)
    return AskedBack(options, gettext(wording.ASKED_BACK[choice.outcome]), chosen)

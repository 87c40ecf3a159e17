"""Approving in a crisis: asked once more, whatever way the approval comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from conversations.turns.services import REPLY
from ieim.pipeline.topology import ANSWERING
from review import crisis
from review.deciding.errors import Unconfirmed
from review.models import Action, ReviewItem

FIELD = "confirmed"
"""What a payload says with ``true``."""


def why(item: ReviewItem, action: Action) -> str:
    """Return why an action has to be confirmed on a step of its own; empty when it has not."""
    if action is not Action.APPROVE or item.stage not in (*ANSWERING, REPLY):
        return ""
    dangers = crisis.labels(item.turn)
    if not dangers:
        return ""
    names = ", ".join(label.name for label in dangers)
    return gettext(
        "The message shows a danger ({names}), and what the assistant has is an answer to"
        " something else. Write the reply yourself, or confirm that this one is right."
    ).format(names=names)


def require(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> None:
    """Raise :class:`Unconfirmed` where an action has to be confirmed and is not."""
    message = why(item, action)
    if message and payload.get(FIELD) is not True:
        raise Unconfirmed(message)

"""A verdict that comes over the JSON socket, and the event that says that it was taken."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from conversations import selectors
from conversations.events import events
from conversations.models import Turn
from conversations.rating import services as rating


@transaction.atomic
def rate(*, session_id: UUID, turn_id: UUID, useful: bool, **said: Any) -> dict[str, Any] | None:
    """Store a verdict on an answer as :func:`conversations.rating.services.rate`, and tell of it.

    The event has none of the citizen's words, and the turn's help lines where there are any: what
    is said of an answer can tell of danger too. Where nothing has changed nothing is stored:
    returns the frame then, without a number.
    """
    _, changed = rating.rate(session_id=session_id, turn_id=turn_id, useful=useful, **said)
    view = selectors.turn_view(turn_id)
    body: dict[str, Any] = {
        "useful": useful,
        "reason": view.feedback.reason if view.feedback else "",
        **events.help_lines(view.contact_texts),
    }
    if not changed:
        return {"type": "rated", "turn": str(turn_id), **body}
    turn = Turn.objects.get(pk=turn_id)
    events.tell(session_id=session_id, kind="rated", body=body, turn=turn)
    return None

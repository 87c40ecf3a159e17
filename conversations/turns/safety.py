"""A citizen says that they are safe: the talk goes on as with anybody.

What was said of danger stays where it was said: a message that waits for a person goes on waiting,
its help lines can be unfolded, and who looks sees what the citizen has said since. But no later
message inherits either. A later message with a sign of its own is one of danger as before.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.models import Turn
from conversations.turns import events, help_lines, moves
from conversations.turns.locking import NotInSession, locked_session


class NothingShown(NotInSession):
    """The turn is not this session's, or shows no help lines of its own."""

    detail = "This message shows no help lines."


@transaction.atomic
def say_safe(*, session_id: UUID, turn_id: UUID) -> None:
    """Store that the citizen is safe, for a message that shows help lines; once.

    Raises :class:`NothingShown`, and ``Session.DoesNotExist`` also for a session that was erased.
    """
    session = locked_session(session_id)
    turn = Turn.objects.filter(session=session, pk=turn_id).first()
    if turn is None or not help_lines.has_own(turn):
        raise NothingShown(str(turn_id))
    if turn.said_safe_at is None:
        turn.said_safe_at = timezone.now()
        turn.save(update_fields=["said_safe_at", "updated_at"])
        events.record(turn, "turn.said_safe", {}, actor="citizen")
        moves.notify_pages(turn)

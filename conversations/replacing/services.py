"""Writes of something else: the same words as a new turn, without the talk before it."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext, gettext_noop

from conversations.models import Session, Turn
from conversations.personal.choices import Message
from conversations.turns import erasing, moves, services
from conversations.turns.locking import locked
from ieim.knowledge.crisis import Looked

NOT_ANSWERED = gettext_noop(
    "There is no answer here that could be about something else. Look at your question to see what "
    "became of it."
)


class NothingToReplace(Exception):
    """The turn is not this session's, or its answer does not go on with the talk's service."""


class NotAnswered(Exception):
    """The turn has no answer; nothing was changed. ``message`` is the sentence for the citizen."""

    @property
    def message(self) -> str:
        """The sentence, in the page's language."""
        return gettext(NOT_ANSWERED)


def ask_again(
    *, session_id: UUID, turn_id: UUID, address: str | None = None, enqueue: bool = True
) -> tuple[Turn, bool]:
    """Ask the words of an answered turn again as something else than the talk's service.

    Returns the new turn and True; once there is one, that turn and False. ``address`` is as for
    :func:`conversations.turns.services.admit`; ``enqueue=False`` leaves the running to the caller.
    Raises :class:`NothingToReplace`, :class:`NotAnswered`,
    :class:`conversations.turns.refusing.Refused` as for any message, and ``Session.DoesNotExist``
    also for a session that was erased.
    """
    turns = Turn.objects.filter(session_id=session_id).select_related("session")
    asked = turns.filter(pk=turn_id).first()
    if asked is None:
        raise NothingToReplace(str(turn_id))
    services.admit(session=asked.session.secret_sha256, text=asked.text, address=address)
    # Before the session is locked: nobody waits for an embedder with a lock.
    return _ask_again(session_id, turn_id, services.look(asked.text), enqueue=enqueue)


@transaction.atomic
def _ask_again(
    session_id: UUID, turn_id: UUID, looked: Looked, *, enqueue: bool
) -> tuple[Turn, bool]:
    # Locked: of two taps at once, the second finds the turn of the first.
    session = locked(Session.objects.all()).get(pk=session_id)
    if erasing.is_erased(session):
        raise Session.DoesNotExist(str(session_id))
    turn = Turn.objects.select_related("reply", "replaced__by").get(pk=turn_id)
    if hasattr(turn, "replaced"):
        return turn.replaced.by, False
    if not hasattr(turn, "reply"):
        raise NotAnswered(str(turn_id))
    if not turn.reply.body.get("still_about"):
        raise NothingToReplace(str(turn_id))
    again = services.receive_turn_in(
        session_id=session_id,
        message=Message(turn.text),  # its sender has chosen what is in it
        looked=looked,
        enqueue=enqueue,
        replaces=turn,
    )
    moves.changed(again)
    return again, True

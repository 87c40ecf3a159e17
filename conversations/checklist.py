"""Ticking what one has seen to, of an answer over several services."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from conversations.models import Reply, Tick
from conversations.turns.locking import NothingThere, locked_session
from ieim.pipeline.reply.cards import Card


class NothingToTick(NothingThere):
    """The turn is not this session's, or its answer has no such service among several."""

    detail = "This message has no answer with such a card among several."


@transaction.atomic
def tick(*, session_id: UUID, turn_id: UUID, service: str, done: bool) -> None:
    """Store whether a session's citizen has seen to ``service`` (``agency/key``) of an answer.

    The same again changes nothing. Raises :class:`NothingToTick`, and ``Session.DoesNotExist`` also
    for a session that was erased.
    """
    session = locked_session(session_id)
    reply = Reply.objects.filter(turn_id=turn_id, turn__session=session).first()
    cards = reply.body.get("cards", ()) if reply is not None else ()
    there = {Card.from_dict(card).source.reference for card in cards}
    if reply is None or service not in there:
        raise NothingToTick(str(turn_id))
    if done:
        Tick.objects.get_or_create(reply=reply, service=service)
    else:
        Tick.objects.filter(reply=reply, service=service).delete()

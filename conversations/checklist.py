"""Ticking what one has seen to, of several services or of the checklist of a situation."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from conversations.models import Reply, Tick
from conversations.turns.locking import NotInSession, locked_session
from ieim.pipeline.reply.reply import Reply as Content


class NothingToTick(NotInSession):
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
    if reply is None or service not in _listed(Content.from_dict(reply.body)):
        raise NothingToTick(str(turn_id))
    if done:
        Tick.objects.get_or_create(reply=reply, service=service)
    else:
        Tick.objects.filter(reply=reply, service=service).delete()


def _listed(content: Content) -> set[str]:
    """Return the references of the services that a reply lists."""
    lines = content.situation.lines if content.situation is not None else ()
    sources = (*(card.source for card in content.cards), *(line.source for line in lines))
    return {source.reference for source in sources}

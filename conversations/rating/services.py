"""Writing down what a citizen thinks of an answer."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.chat.replies import RATED_KINDS
from conversations.models import Rating, Reply, Session
from conversations.record.vouched import RATING
from conversations.turns import erasing
from conversations.turns.locking import locked
from ieim.audit import services as audit


class NothingToRate(Exception):
    """The turn is not this session's, or has no answer that can be useful or not."""


@transaction.atomic
def rate(*, session_id: UUID, turn_id: UUID, useful: bool) -> Rating:
    """Store whether a session's citizen found an answer useful, with its audit event.

    A second verdict takes the place of the first; the same one again changes nothing. Guidance and
    questions cannot be rated. Raises :class:`NothingToRate`, and ``Session.DoesNotExist`` also for
    a session that was erased.
    """
    # Erasing holds the same row: no verdict comes after it.
    session = locked(Session.objects.all()).get(pk=session_id)
    if erasing.is_erased(session):
        raise Session.DoesNotExist(str(session_id))
    replies = Reply.objects.select_related("rating")
    reply = replies.filter(turn_id=turn_id, turn__session=session).first()
    if reply is None or reply.body["kind"] not in RATED_KINDS:
        raise NothingToRate(str(turn_id))
    if reply.useful is useful:
        return reply.rating
    rating, _ = Rating.objects.update_or_create(
        reply=reply, defaults={"useful": useful, "at": timezone.now()}
    )
    audit.record(
        chain=session.pk,
        kind="reply.rated",
        actor="citizen",
        payload={"turn": str(turn_id), "useful": useful},
        rows=[RATING.row(rating)],
    )
    return rating

"""A reply as the citizen's own page would show it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from uuid import uuid5

from django.utils import timezone

from conversations import selectors as conversations
from conversations.chat import reply_views
from conversations.chat.presenters import TurnView
from conversations.chat.reply_presenters import ReplyView
from conversations.models import Reply as StoredReply
from conversations.models import ReplyOrigin, Turn
from conversations.turns import languages, resuming
from ieim.knowledge.notices import selectors as notices
from ieim.pipeline.reply.reply import Reply
from review.models import Action

_ORIGINS: Mapping[str, ReplyOrigin] = {
    Action.APPROVE: ReplyOrigin.MODEL_APPROVED,
    Action.OVERRIDE: ReplyOrigin.STAFF_OVERRIDE,
}


def citizens_view(turn: Turn, reply: Reply, action: str) -> ReplyView:
    """Return a reply as the citizen's own page would show it after ``action``."""
    reply = replace(reply, notices=notices.of_reply(reply.sources, timezone.now()))
    stored = StoredReply(
        turn=copy(turn),  # else the item's own turn would seem to be answered
        origin=_ORIGINS.get(action, ReplyOrigin.STAFF).value,
        body=reply.as_dict(),
        marked=resuming.marked(turn.text, reply, languages.release_of(turn)),
    )
    return reply_views.reply_view(stored, turn)


def finished_turn(turn: Turn, part: str = "") -> TurnView:
    """Return the turn as its page will show it: with every step done, and with HTML ids of its own
    for a ``part`` of a page that shows several replies."""
    view = conversations.turn_view(turn.pk)
    steps = tuple(replace(step, status="done") for step in view.steps)
    return replace(view, id=uuid5(view.id, part) if part else view.id, steps=steps)

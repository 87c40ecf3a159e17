"""Approving what may do harm: asked once more, whatever way the approval comes.

That is any answer in a crisis, and one with a service that the citizen has refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from conversations.turns import languages
from conversations.turns.choosing import choice_of
from conversations.turns.models import ChoiceOutcome
from ieim.pipeline.topology import ANSWERING, REPLY
from review import crisis
from review.deciding import answers, flow
from review.deciding.errors import Refused, Unchosen, Unconfirmed
from review.models import Action, ReviewItem

FIELD = "confirmed"
"""What a payload says with ``true``."""


def why(item: ReviewItem, action: Action) -> str:
    """Return why an action has to be confirmed on a step of its own; empty when it has not."""
    if action is not Action.APPROVE or item.stage not in (*ANSWERING, REPLY):
        return ""
    return _danger(item) or _refused(item)


def require(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> None:
    """Raise :class:`Unconfirmed` where an action has to be confirmed and is not."""
    message = why(item, action)
    if message and payload.get(FIELD) is not True:
        raise Unconfirmed(message) if crisis.labels(item.turn) else Unchosen(message)


def _danger(item: ReviewItem) -> str:
    names = ", ".join(label.name for label in crisis.labels(item.turn))
    if not names:
        return ""
    return gettext(
        "The message shows a danger ({names}), and what the assistant has is an answer to"
        " something else. Write the reply yourself, or confirm that this one is right."
    ).format(names=names)


def _refused(item: ReviewItem) -> str:
    """Return that the citizen was offered what would be sent, and said that it is not that."""
    choice = choice_of(item.turn)
    if choice is None or choice.outcome != ChoiceOutcome.NONE:
        return ""
    offered = {(agency, key) for agency, key in choice.offered}
    sent = _services(item)
    refused = offered if sent is None else offered & sent
    if not refused:
        return ""
    known = languages.release_of(item.turn).services
    names = ", ".join(sorted(known[each].name for each in refused))
    return gettext(
        "The citizen was offered this ({names}) and said: none of these. Write the reply or correct"
        " the step, or confirm that this answer is right all the same."
    ).format(names=names)


def _services(item: ReviewItem) -> set[tuple[str, str]] | None:
    """Return the services that an approval would send, None where the assistant has still to
    choose: then it may well choose again what it had offered."""
    try:
        stage = None if item.stage == REPLY else flow.stage_of(item.turn, item.stage)
        put = answers.approving(stage) if stage is not None else None
    except Refused:
        return set()
    given = {put.contract: (put.output, put.state_merge)} if put is not None else {}
    reply = flow.follow(item.turn, given).reply
    return None if reply is None else {(s.agency_id, s.service_key) for s in reply.sources}

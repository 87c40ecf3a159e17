"""What a citizen would see: of a decision about to be confirmed, and of a reply that waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext

from conversations import selectors as conversations
from conversations.chat import reply_views
from conversations.chat.presenters import ReplyView, TurnView
from conversations.models import Reply, ReplyOrigin
from conversations.turns import languages, resuming
from ieim.knowledge.notices import selectors as notices
from ieim.people.models import User
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.topology import REPLY
from review import deciding
from review.deciding import Preview, Refused
from review.deciding.signing import second
from review.item.forms.actions import DecisionForm
from review.item.presenters import item_view
from review.item.sections.said import Said, said
from review.item.selectors import Loaded
from review.models import Action, Decision

ONCE_MORE = "once-more"
"""What is posted to come to the step that asks once more before an approval in a crisis."""
_ORIGINS: Mapping[str, ReplyOrigin] = {
    Action.APPROVE: ReplyOrigin.MODEL_APPROVED,
    Action.OVERRIDE: ReplyOrigin.STAFF_OVERRIDE,
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reply beside the message, as the citizen sees it or would see it."""

    title: str
    reply: ReplyView
    turn: TurnView


def preview_context(
    loaded: Loaded, decision: DecisionForm, payload: Mapping[str, Any], seen: Preview
) -> dict[str, Any]:
    """Return the context of the page that shows what a decision leads to."""
    action = decision.action or Action.WRITE
    agreed = second.proposal_of(loaded.item) if action is Action.AGREE else None
    kept = [
        (name, value)
        for name, values in (decision.data or QueryDict()).lists()
        if name not in ("csrfmiddlewaretoken", "again", ONCE_MORE)
        for value in values
    ]
    return {
        "item": item_view(loaded),
        "seen": seen,
        "reply": shown(loaded, seen.reply, agreed.action if agreed else action)
        if seen.reply
        else None,
        "turn": _turn(loaded),
        "action": next(c.name for c in decision.choices if c.action == action),
        "says": _says(loaded, decision, payload),
        "reason": decision.reason,
        "why_confirm": deciding.why_confirm(loaded.item, action),
        "kept": kept,
    }


def waiting(loaded: Loaded, user: User, proposal: Decision | None) -> Waiting | None:
    """Return the reply that the citizen got, or that of a ``proposal``, or the one that is held.

    None where there is none.
    """
    turn = loaded.item.turn
    if hasattr(turn, "reply"):
        got = reply_views.reply_view(turn.reply, turn)
        return Waiting(gettext("What the citizen got"), got, conversations.turn_view(turn.pk))
    if proposal is not None:
        title, action, by = gettext("The reply that was decided on"), Action.AGREE, proposal.action
    elif loaded.item.stage == REPLY:
        title, action, by = gettext("The reply that waits"), Action.APPROVE, Action.APPROVE.value
    else:
        return None
    try:
        seen = deciding.preview(item_id=loaded.item.pk, actor=user, action=action, payload={})
    except Refused:
        return None
    if seen.reply is None:
        return None
    return Waiting(title, shown(loaded, seen.reply, by), _turn(loaded))


def shown(loaded: Loaded, said: replies.Reply, action: str) -> ReplyView:
    """Return a reply as the citizen's own page would show it after ``action``."""
    turn = loaded.item.turn
    release = languages.release_of(turn)
    said = replace(said, notices=notices.of_reply(said.sources, timezone.now()))
    stored = Reply(
        turn=turn,
        origin=_ORIGINS.get(action, ReplyOrigin.STAFF).value,
        body=said.as_dict(),
        marked=resuming.marked(turn.text, said, release),
    )
    return reply_views.reply_view(stored, turn)


def _says(loaded: Loaded, decision: DecisionForm, payload: Mapping[str, Any]) -> tuple[Said, ...]:
    """Return what a corrected answer says; nothing for other actions."""
    if "output" not in payload:
        return ()
    contract, release = payload["stage"], decision.desk.release
    whole = deciding.complete_output(contract, loaded.item.turn, payload["output"])
    return said(contract, whole, release)


def _turn(loaded: Loaded) -> TurnView:
    """Return the turn as its page will show it: with every step done."""
    view = conversations.turn_view(loaded.item.turn_id)
    return replace(view, steps=tuple(replace(step, status="done") for step in view.steps))

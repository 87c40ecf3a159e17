"""Rows of groups, and the pages of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.http import QueryDict
from django.utils.translation import ngettext

from ieim.people.models import User
from review import deciding, reading
from review.batches import services
from review.batches.models import Batch, EntryState
from review.deciding import Action, Refused, outdated
from review.item import selectors
from review.item.base_forms import FormContext
from review.item.citizen import citizens_view, finished_turn
from review.item.forms import DecisionForm
from review.scope import visible
from review.states import ReviewState

SAMPLES = 5
"""So many items of a batch are shown as their citizens will see them."""


def batch_form(pk: UUID, user: User, data: QueryDict | None) -> DecisionForm:
    """Return the form of what can be done with several items; services are ranked for the first."""
    loaded = selectors.load(pk, user)
    offered: dict[Action, str] = {
        action: "" for action in services.ACTIONS if action is not Action.OVERRIDE
    }
    return DecisionForm(FormContext("", loaded.item.turn, loaded.stages), data, offered)


def samples(
    pks: Sequence[UUID], user: User, action: Action, payload: Mapping[str, Any], *, has_read: bool
) -> Iterator[dict[str, Any]]:
    """Yield the first items of a batch, each with what its citizen will see or why it is left."""
    for pk in pks[:SAMPLES]:
        item = selectors.load(pk, user).item
        reading.record_read(item, user)
        sample: dict[str, Any] = {"item": item, "turn": finished_turn(item.turn)}
        problem = services.why_not_together(item, action, has_read=has_read)
        problem = problem or deciding.why_confirm(item, action, payload)
        try:
            seen = deciding.preview(item_id=pk, actor=user, action=action, payload=payload)
        except Refused as refused:
            yield {**sample, "problem": problem or refused.message}
            continue
        problem = problem or str(outdated.changes_since(item.turn, seen.reply) or "")
        reply = seen.reply and citizens_view(item.turn, seen.reply, action)
        yield {**sample, "problem": problem, "reply": reply, "happens": seen.happens}


def progress(batch: Batch, user: User, now: datetime) -> dict[str, Any]:
    """Return how far a batch is, and which items were left, those that the user may see."""
    rows = batch.entries.values("state").annotate(number=Count("pk"))
    numbers = {row["state"]: row["number"] for row in rows}
    left = batch.entries.filter(~Q(problem="")).select_related("item__turn__session")
    sending = batch.entries.filter(item__state=ReviewState.SENDING).count()
    total = sum(numbers.values())
    is_over = batch.finished_at is not None
    title = ngettext("{action}: {number} item", "{action}: {number} items", total)
    return {
        "batch": batch,
        "title": title.format(action=Action(batch.action).label, number=total),
        "total": total,
        "done": total - numbers.get(EntryState.PENDING, 0),
        "counts": [
            (state.label, numbers[state]) for state in EntryState if numbers.get(state.value)
        ],
        "left": list(left.filter(item__in=visible(user))),
        "sending": sending,
        "is_over": is_over,
        "can_undo": services.can_undo(batch, now),
        "polls": not is_over or sending > 0 or now < batch.takes_effect_at,
    }

"""Rows of groups, and the pages of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from conversations.models import Turn
from conversations.states import PENDING_TURN_STATES, TurnState
from ieim.people.models import User
from ieim.people.reading import record_listed
from review import deciding, reading
from review.batches import services
from review.batches.models import Batch, BatchEntry, EntryState
from review.deciding import Action, Refused, outdated
from review.item import selectors
from review.item.base_forms import FormContext
from review.item.citizen import citizens_view, finished_turn
from review.item.forms import DecisionForm
from review.metrics.selectors import WITHOUT_A_PERSON
from review.models import ReviewItem
from review.scope import visible
from review.states import ReviewState

SAMPLES = 5
"""So many items of a batch are shown: their messages, then what their citizens will see."""
READ_NOW = _("Being read again")


def batch_form(pk: UUID, user: User, data: QueryDict | None) -> DecisionForm:
    """Return the form of what can be done with several items; services are ranked for the first."""
    loaded = selectors.load(pk, user)
    offered: dict[Action, str] = {
        action: "" for action in services.ACTIONS if action is not Action.OVERRIDE
    }
    context = FormContext("", loaded.item.turn, loaded.stages, preselects=False)
    return DecisionForm(context, data, offered)


def first_items(pks: Sequence[UUID], user: User) -> list[ReviewItem]:
    """Return the first items of a batch, whose messages are shown while the user chooses."""
    items = ReviewItem.objects.select_related("turn__session").in_bulk(pks[:SAMPLES])
    record_listed(reading.LISTED, "items", items, user)
    return [items[pk] for pk in pks if pk in items]


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
    asked = _asked_again(batch) if batch.action == Action.RETRY else {}
    total = sum(numbers.values())
    is_over = batch.finished_at is not None
    title = ngettext("{action}: {number} item", "{action}: {number} items", total)
    return {
        "batch": batch,
        "title": title.format(action=Action(batch.action).label, number=total),
        "total": total,
        "done": total - numbers.get(EntryState.PENDING, 0),
        "counts": [
            *((state.label, numbers[state]) for state in EntryState if numbers.get(state.value)),
            *asked.items(),
        ],
        "left": list(left.filter(item__in=visible(user))),
        "sending": sending,
        "is_over": is_over,
        "can_undo": services.can_undo(batch, now),
        "polls": not is_over or sending > 0 or now < batch.takes_effect_at or READ_NOW in asked,
    }


def _asked_again(batch: Batch) -> dict[Any, int]:
    """Return what has become of the questions that the model was asked again, in words, with their
    numbers; without those that are 0."""
    decided = BatchEntry.objects.filter(
        batch=batch, state=EntryState.DECIDED, item__state=ReviewState.DECIDED
    )
    turns = Turn.objects.filter(pk__in=decided.values("item__turn"))
    alone = Q(reply__origin__in=WITHOUT_A_PERSON) | Q(state=TurnState.ASKING)
    numbers = {
        _("Answered by the assistant"): turns.filter(alone).count(),
        _("With a person again"): turns.filter(state=TurnState.NEEDS_REVIEW).count(),
        READ_NOW: turns.filter(state__in=PENDING_TURN_STATES).count(),
    }
    return {words: number for words, number in numbers.items() if number}

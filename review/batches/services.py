"""Writes: a decision on many items, each by itself and through the gate; taking it back."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext, gettext_noop

from conversations.queueing import queue_after_commit
from ieim.audit import services as audit
from ieim.people.models import User
from ieim.people.tokens import selectors as tokens
from ieim.pipeline.reply.reply import Reply
from review import claims, deciding, labels
from review.batches.models import Batch, BatchEntry, EntryState
from review.claims import ClaimRefused
from review.crisis import is_crisis, of_refusal
from review.deciding import Action, Conflict, Decision, Refused, locking
from review.models import ReviewItem
from review.scope import visible
from review.states import ReviewState

logger = logging.getLogger(__name__)

RUN_BATCH = "review.tasks.run_batch"
ACTIONS = (
    *(Action.RETRY, Action.SERVICE, Action.OVERRIDE, Action.ASK),
    *(Action.HAND_OVER, Action.DISMISS),
)
"""What can be done with many items."""
MAX_ITEMS = 500
TIME_TO_UNDO = timedelta(seconds=60)
LEASE = timedelta(minutes=2)
"""A worker that has not decided an item for so long is gone."""
RETENTION = timedelta(days=30)
GONE = gettext_noop("An item is not there any more.")
IN_CRISIS = gettext_noop("An item in crisis is not decided with others. Open it by itself.")
UNREAD = gettext_noop(
    "A model refused to read this message. Read it yourself and say that you have, or open it by "
    "itself."
)
FAILED = gettext_noop("It could not be decided because of an error. Open it by itself.")
_OF_ONE = frozenset({"session_id", "response_id", "telemetry"})
"""The parts of a stage's answer that are of one item only."""


def start(
    *,
    actor: User,
    item_ids: Sequence[UUID],
    action: Action,
    reason: str,
    payload: Mapping[str, Any],
    has_read: bool = False,
) -> Batch:
    """Begin to decide items that the actor sees in the background, in their order.

    ``payload`` is as for :func:`review.deciding.decide`. ``has_read`` says that the actor has read
    the messages among them that a model refused to read. Nothing takes effect within
    :data:`TIME_TO_UNDO`.

    Raises:
        Refused: nothing of it can be done like this.
    """
    if action not in ACTIONS:
        raise Refused(gettext("This is decided item by item. Open the items."))
    if len(item_ids) > MAX_ITEMS:
        message = gettext("Choose at most {number} items at once.")
        raise Refused(message.format(number=MAX_ITEMS))
    items = visible(actor).in_bulk(item_ids)
    if not items:
        raise Refused(gettext("Choose at least one item."))
    reason = locking.checked_reason(reason)
    with transaction.atomic():
        batch = Batch.objects.create(
            actor_id=actor.pk,
            action=action.value,
            reason=reason,
            payload=dict(payload),
            has_read=has_read,
            token=actor.limits.prefix if actor.limits is not None else "",
            language=translation.get_language() or "",
            takes_effect_at=timezone.now() + TIME_TO_UNDO,
        )
        BatchEntry.objects.bulk_create(
            BatchEntry(batch=batch, item=items[pk]) for pk in dict.fromkeys(item_ids) if pk in items
        )
        _record("review.batch_started", batch, actor)
        queue_after_commit(RUN_BATCH, str(batch.pk))
    return batch


def why_not_together(item: ReviewItem, action: Action, *, has_read: bool) -> str:
    """Return why an item is not decided with others, empty where it may be."""
    if is_crisis(item):
        return gettext(IN_CRISIS)
    if of_refusal(item) and not has_read and action is not Action.RETRY:
        return gettext(UNREAD)
    return ""


def repeat(decision: Decision) -> tuple[Action, dict[str, Any]]:
    """Return the action and the payload that do the same as a decision to another item.

    Raises:
        Refused: it is of one item only.
    """
    action, output = Action(decision.action), decision.output or {}
    match action:
        case Action.RETRY:
            return action, {}
        case Action.SERVICE:
            source = Reply.from_dict(output).sources[0]
            return action, {"agency": source.agency_id, "service": source.service_key}
        case Action.OVERRIDE:
            common = {name: value for name, value in output.items() if name not in _OF_ONE}
            return action, {"stage": decision.artifacts["stage"], "output": common}
        case Action.HAND_OVER:
            return action, {"agency": output["agency"]}
        case Action.ASK | Action.DISMISS:
            text = "\n\n".join(Reply.from_dict(output).paragraphs) if output else ""
            return action, {"text": text} if text else {}
    raise Refused(gettext("This is decided item by item. Open the items."))


def run(*, batch_id: UUID) -> None:
    """Decide what is left of a batch, or take it back; nothing where another worker is at it."""
    now = timezone.now()
    if _unattended(now).filter(pk=batch_id).update(leased_until=now + LEASE):
        while _step(batch_id):
            pass


def sweep(*, now: datetime) -> None:
    """Queue the batches that a worker or the broker has left, and delete old ones."""
    for pk in _unattended(now).values_list("pk", flat=True):
        queue_after_commit(RUN_BATCH, str(pk))
    Batch.objects.filter(finished_at__lt=now - RETENTION).delete()


def _unattended(now: datetime) -> QuerySet[Batch]:
    free = Q(leased_until=None) | Q(leased_until__lte=now)
    return Batch.objects.filter(free, finished_at=None)


def _step(batch_id: UUID) -> bool:
    """Decide or take back the next item; return whether there may be another."""
    now = timezone.now()
    Batch.objects.filter(pk=batch_id).update(leased_until=now + LEASE)
    batch = Batch.objects.select_related("actor", "undone_by").get(pk=batch_id)
    state = EntryState.PENDING if batch.undone_at is None else EntryState.DECIDED
    entry = batch.entries.filter(state=state).order_by("pk").first()
    if entry is None:
        # Where it was taken back meanwhile, there is more to do.
        unchanged = Batch.objects.filter(pk=batch_id, undone_at=batch.undone_at)
        return not unchanged.update(finished_at=now, leased_until=None, reason="", payload={})
    with translation.override(batch.language):
        try:
            if state is EntryState.PENDING:
                _decide(batch, entry)
            else:
                _take_back(batch, entry)
        except (Refused, Conflict, ClaimRefused) as refused:
            _leave(entry, state, str(refused))
        except (ReviewItem.DoesNotExist, Decision.DoesNotExist):
            _leave(entry, state, gettext(GONE))
        except PermissionDenied:
            _leave(entry, state, gettext("You do not have the right to do this."))
        except Exception:  # an error of ours: the other items have to be decided
            logger.exception("batch %s: item %s could not be decided", batch_id, entry.item_id)
            _leave(entry, state, gettext(FAILED))
    return True


@transaction.atomic
def _decide(batch: Batch, entry: BatchEntry) -> None:
    """Claim and decide at once: what is refused is not claimed either."""
    action = Action(batch.action)
    actor = locking.still_acting(batch.actor, batch.token)
    item = claims.claim(item_id=entry.item_id, actor=actor)
    if problem := why_not_together(item, action, has_read=batch.has_read):
        raise Refused(problem)
    decision = deciding.decide(
        item_id=item.pk,
        actor=actor,
        version=item.version,
        action=action,
        reason=batch.reason,
        payload=batch.payload,
        delay=max(batch.takes_effect_at - timezone.now(), timedelta()),
    )
    if not _pending(entry).update(state=EntryState.DECIDED, decision=decision):
        raise Conflict(gettext("It was taken back meanwhile."))


@transaction.atomic
def _take_back(batch: Batch, entry: BatchEntry) -> None:
    """Undo a decision; its item is free again."""
    actor = batch.undone_by or tokens.acting(batch.actor, batch.token)
    reason = gettext(labels.TAKEN_BACK)
    deciding.undo(decision_id=entry.decision_id, actor=actor, reason=reason)  # type: ignore[arg-type]  # it is decided
    with suppress(ClaimRefused, ReviewItem.DoesNotExist):
        claims.release(item_id=entry.item_id, actor=actor)
    BatchEntry.objects.filter(pk=entry.pk).update(state=EntryState.UNDONE)


def _pending(entry: BatchEntry) -> QuerySet[BatchEntry]:
    return BatchEntry.objects.filter(pk=entry.pk, state=EntryState.PENDING)


def _leave(entry: BatchEntry, state: EntryState, problem: str) -> None:
    """Leave an item as it is, with the reason."""
    end = EntryState.REFUSED if state is EntryState.PENDING else EntryState.FINAL
    entries = BatchEntry.objects.filter(pk=entry.pk, state=state)
    entries.update(state=end, problem=problem)


@transaction.atomic
def undo(*, batch_id: UUID, actor: User) -> None:
    """Take a batch back, in the background; nothing more of it takes effect from now on.

    Raises:
        Batch.DoesNotExist: for a batch that is not :func:`within_reach`.
        Refused: it is too late.
    """
    now = timezone.now()
    batch = within_reach(actor).select_for_update().get(pk=batch_id)
    if not can_undo(batch, now):
        raise Refused(gettext("It is too late: what was decided has taken effect."))
    by = None if actor.pk == batch.actor_id else actor.pk
    Batch.objects.filter(pk=batch_id).update(undone_at=now, undone_by=by, finished_at=None)
    batch.entries.filter(state=EntryState.PENDING).update(state=EntryState.UNDONE)
    # An item whose decision was undone by itself may have another one on its way.
    decided = batch.entries.filter(state=EntryState.DECIDED, decision__answers=None).values("item")
    sending = ReviewItem.objects.filter(pk__in=decided, state=ReviewState.SENDING)
    sending.update(takes_effect_at=now + timedelta(hours=1))
    _record("review.batch_undone", batch, actor)
    queue_after_commit(RUN_BATCH, str(batch_id))


def within_reach(user: User) -> QuerySet[Batch]:
    """Return the batches that somebody may see and take back: their own, and for a lead those of
    which they see every item."""
    if not user.has_perm(locking.SUPERVISE):
        return Batch.objects.filter(actor=user.pk)
    hidden = BatchEntry.objects.filter(batch=OuterRef("pk")).exclude(item__in=visible(user))
    return Batch.objects.filter(Q(actor=user.pk) | Q(~Exists(hidden)))


def batch_of(item: ReviewItem, user: User) -> Batch | None:
    """Return the batch within reach that an item is waiting to be sent with; None for none."""
    if item.state != ReviewState.SENDING:
        return None
    batches = within_reach(user).filter(entries__item=item, entries__state=EntryState.DECIDED)
    return batches.order_by("created_at").last()


def can_undo(batch: Batch, now: datetime) -> bool:
    """Whether something of a batch can still be taken back."""
    return batch.undone_at is None and (now < batch.takes_effect_at or batch.finished_at is None)


def _record(kind: str, batch: Batch, actor: User) -> None:
    number = batch.entries.count()
    audit.record_system(
        kind=kind,
        payload={"batch": str(batch.pk), "action": batch.action, "number": number},
        actor=actor.actor,
    )

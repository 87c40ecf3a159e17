"""Undoing a decision: a record of its own, as long as nothing irrevocable has happened."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from conversations.turns import moves, resuming
from conversations.turns.resuming import NotWaiting
from ieim.people.models import User
from review.corrections import records
from review.corrections.records import Content
from review.deciding import locking, permitted
from review.deciding.actions import was_closed
from review.deciding.errors import Conflict, Refused
from review.deciding.making import NO_CLAIM, waiting_state
from review.deciding.signing import signing
from review.models import Action, Decision, ReviewItem
from review.scope import belonging, reach
from review.states import ReviewState


@transaction.atomic
def undo(*, decision_id: UUID, actor: User, reason: str) -> Decision:
    """Undo a proposal, a handing over, or a dismissal that told the citizen nothing.

    For its author, or a supervisor. A dismissed item stays decided; a new one is opened for the
    same stage. Raises ``Decision.DoesNotExist``, :class:`Conflict` and :class:`Refused`.
    """
    now = timezone.now()
    item_id = Decision.objects.values_list("item_id", flat=True).get(pk=decision_id)
    locked = locking.locked(item_id)
    decision = Decision.objects.get(pk=decision_id)
    decision.item = locked
    # Its author may have handed the item out of their own sight.
    if decision.actor_id != actor.pk and not reach.sees(actor, locked):
        raise Decision.DoesNotExist(f"no decision {decision_id} in the scope of {actor}")
    if decision not in permitted.undoable(locked):
        raise Refused(gettext("This decision has been answered or undone already."))
    problem = permitted.undo_problem(decision, actor, now)
    if problem:
        raise Refused(problem)
    record = records.write(
        item=locked,
        actor=actor,
        action=Action.UNDO,
        reason=locking.checked_reason(reason),
        content=Content(contract=decision.artifacts.get("stage", "")),
        now=now,
        about=decision,
    )
    if locked.state == ReviewState.DECIDED.value:
        _reopen(locked, actor)
    else:
        _take_back(locked, decision, actor)
    return record


def _take_back(item: ReviewItem, decision: Decision, actor: User) -> None:
    if decision.action != Action.HAND_OVER.value or decision.output is None:
        signing.withdraw(item, actor)
        locking.advance(item, state=ReviewState.OPEN, **NO_CLAIM)
        return
    before = belonging.set_of(decision.output.get("agencies", ()))
    back = {"agency": decision.output["from"], "agencies": before}
    locking.advance(item, state=waiting_state(item), **back, **NO_CLAIM)
    belonging.refresh(item.turn_id)


def _reopen(item: ReviewItem, actor: User) -> None:
    if not was_closed(item):
        moves.open_review(turn=item.turn, stage=item.stage, codes=item.reasons)
        return
    by = records.actor_of(actor)
    try:
        resuming.reopen(turn=item.turn, stage=item.stage, codes=item.reasons, by=by)
    except NotWaiting as error:
        raise Conflict(
            gettext("The question moved on meanwhile. Look at the item again.")
        ) from error

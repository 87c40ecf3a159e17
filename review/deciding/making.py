"""Taking a decision: who, in which state, against which version; then its record and its effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from ieim.people.models import User
from ieim.people.scope import agencies_of
from review.corrections import records
from review.corrections.records import Content
from review.deciding import actions, locking, permitted
from review.deciding.actions import Prepared
from review.deciding.errors import Conflict, Refused
from review.deciding.signing import confirming, second, signing
from review.models import Action, Decision, ReviewItem
from review.scope import belonging
from review.states import ReviewState

NO_CLAIM: Mapping[str, Any] = {"claimed_by_id": None, "claimed_until": None}


@transaction.atomic
def decide(
    *,
    item_id: UUID,
    actor: User,
    version: int,
    action: Action,
    reason: str,
    payload: Mapping[str, Any],
    now: datetime | None = None,
) -> Decision:
    """Decide an item that the actor has claimed; the turn goes on at once, or is ended.

    Where others have to agree or to sign first, the decision is stored and nothing else happens.
    ``payload`` by action: approve ``{"confirmed": true}`` in a crisis, override ``{"output": {...},
    "stage": id}`` (the stage is the item's own when left out, or an earlier one of the flow that
    has run), write ``{"text", "sources": [{"agency", "service"}]}``, ask ``{"text"}``, hand over
    ``{"agency"}``, dismiss ``{"text"}`` or nothing; nothing for the others. Raises
    ``ReviewItem.DoesNotExist``, :class:`Conflict` and :class:`Refused`.
    """
    now = now or timezone.now()
    item = locking.find(item_id, actor, lock=True)
    locking.require_version(item, version)
    if locking.held_by_other(item, actor, now):
        raise Conflict(locking.claim_problem(item, actor, now))
    if action is Action.UNDO:
        raise Refused(gettext("Undo a decision where it is shown."))
    problem = permitted.why_not(item, actor, action, now)
    if problem:
        raise Refused(problem)
    confirming.require(item, action, payload)
    reason = locking.checked_reason(reason)
    if action in permitted.OPINIONS:
        return _opinion(item, actor, action, reason, now)
    prepared = actions.prepare(item, action, payload)
    decision = records.write(
        item=item, actor=actor, action=action, reason=reason, content=prepared.content, now=now
    )
    if action is Action.HAND_OVER:
        locking.advance(item, state=waiting_state(item), agency=prepared.agency, **NO_CLAIM)
        belonging.refresh(item.turn_id)
        return decision
    signing.withdraw(item, actor)  # They stood under something else.
    if _sends(prepared):
        signing.put(item, agencies_of(actor), actor, reason)
        proceed(item, lambda: prepared, actor, now)
    else:
        take_effect(item, prepared, actor, now)
    return decision


def proceed(item: ReviewItem, prepare: Callable[[], Prepared], actor: User, now: datetime) -> None:
    """Let a signed decision take effect, or wait for the other signatures in their queues."""
    if signing.missing(item):
        locking.advance(item, state=ReviewState.SECOND_OPINION, **NO_CLAIM)
        belonging.refresh(item.turn_id)
    else:
        take_effect(item, prepare(), actor, now)


def waiting_state(item: ReviewItem) -> ReviewState:
    """Return the state of an item that nobody has: free, or with a decision that waits."""
    waits = second.proposal_of(item) is not None
    return ReviewState.SECOND_OPINION if waits else ReviewState.OPEN


def take_effect(item: ReviewItem, prepared: Prepared, actor: User, now: datetime) -> None:
    """Carry a decision out, or keep it for a second opinion where the item needs one."""
    if permitted.needs_opinion(item, prepared.action):
        locking.advance(item, state=ReviewState.SECOND_OPINION, needs_second=True, **NO_CLAIM)
    else:
        _carry_out(item, prepared, actor, now)


def _opinion(item: ReviewItem, actor: User, action: Action, reason: str, now: datetime) -> Decision:
    proposal = permitted.opinion_wanted(item)
    if proposal is None:
        raise Conflict(gettext("The decision was undone meanwhile. Look at the item again."))
    proposal.item = item
    content = Content(contract=proposal.artifacts.get("stage", ""))
    agreed = action is Action.AGREE
    prepared = actions.again(proposal) if agreed else None
    decision = records.write(
        item=item,
        actor=actor,
        action=action,
        reason=reason,
        content=content,
        now=now,
        about=proposal,
    )
    if prepared is not None:
        # What the citizen gets is the author's, whoever agreed to it.
        _carry_out(item, prepared, proposal.actor, now)
    else:
        signing.withdraw(item, actor)
        locking.advance(item, state=ReviewState.OPEN, **NO_CLAIM)
    return decision


def _carry_out(item: ReviewItem, prepared: Prepared, actor: User, now: datetime) -> None:
    actions.carry_out(item, prepared, actor)
    locking.advance(item, state=ReviewState.DECIDED, decided_at=now, **NO_CLAIM)


def _sends(prepared: Prepared) -> bool:
    contract, words = prepared.content.contract, prepared.said is not None
    return signing.sends_reply(prepared.action, contract, words=words)

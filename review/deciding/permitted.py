"""Which decisions an item allows now, and why not the others."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.utils import timezone

from conversations.states import StageStatus, TurnState
from conversations.turns.services import REPLY
from ieim.people.models import User
from ieim.pipeline.findings import WAIVABLE
from ieim.pipeline.topology import ANSWERING
from review.deciding import answers, flow, locking
from review.deciding.errors import Refused
from review.deciding.signing import second, signing
from review.models import Action, Decision, ReviewItem
from review.scope import reach
from review.states import UNDECIDED, ReviewState

NO_RIGHT = "You do not have the right to do this."
BUSY = "The question is being worked on. Wait until that has ended."
MOOT = "Nothing waits for this any more."
TRIAGE_ONLY = "This is only about what the message says: no answer waits for it."
WORKING = frozenset({TurnState.QUEUED, TurnState.RUNNING, TurnState.AWAITING_MODEL})
OPINIONS = frozenset({Action.AGREE, Action.DISAGREE})


def may(item: ReviewItem, actor: User) -> Mapping[Action, str]:
    """Return for each action "" when the actor may take it now, else the sentence why not."""
    now = timezone.now()
    if not reach.sees(actor, item):
        return dict.fromkeys(Action, NO_RIGHT)
    return {action: why_not(item, actor, action, now) for action in Action}


def why_not(item: ReviewItem, actor: User, action: Action, now: datetime) -> str:
    """Return why an action on an item that the actor sees may not be taken, empty when it may."""
    if action is Action.UNDO:
        return "" if any(not undo_problem(d, actor, now) for d in undoable(item)) else NOT_UNDOABLE
    permission = locking.SECOND if action in OPINIONS else locking.DECIDE
    if not actor.has_perm(permission):
        return NO_RIGHT
    if ReviewState(item.state) not in UNDECIDED:
        return "This item has been decided."
    claim = locking.claim_problem(item, actor, now)
    return claim or _proposal_problem(item, actor, action) or state_problem(item, action)


def _proposal_problem(item: ReviewItem, actor: User, action: Action) -> str:
    """Return what a decision that waits for others stands in the way of."""
    proposal = opinion_wanted(item)
    if action not in OPINIONS:
        waits = "A decision waits for a second opinion: agree or disagree."
        return waits if proposal is not None else ""
    if proposal is None:
        return "There is no decision yet that needs a second opinion."
    if proposal.actor_id == actor.pk:
        return "You made this decision yourself. Somebody else has to look at it."
    return ""


def opinion_wanted(item: ReviewItem) -> Decision | None:
    """Return the decision of an item that waits for a second person, None where none does."""
    proposal = second.proposal_of(item)
    return None if proposal is None or signing.waits(item, proposal) else proposal


def state_problem(item: ReviewItem, action: Action) -> str:
    """Return why the state of an item's turn and stage does not allow an action."""
    if action in (*OPINIONS, Action.HAND_OVER):
        return ""
    if TurnState(item.turn.state) in WORKING:
        return BUSY
    if action is Action.DISMISS:
        return ""
    if is_moot(item):
        return MOOT
    if item.stage not in (*ANSWERING, REPLY):
        return _triage_problem(item, action)
    if action is Action.APPROVE:
        return _approve_problem(item)
    if item.stage == REPLY and action is Action.RETRY and _held_by_policy(item):
        return "The model has answered, and its answer passed. Approve the reply or correct it."
    if item.stage == REPLY and action is Action.OVERRIDE and not flow.done(item.turn):
        return "No stage has an answer yet that could be corrected. Write the reply."
    return ""


def is_moot(item: ReviewItem) -> bool:
    """Whether nothing waits for an item: its turn has ended, or its stage has got an answer."""
    if item.stage not in (*ANSWERING, REPLY):
        return not _stage_waits(item)
    if item.turn.state != TurnState.NEEDS_REVIEW.value:
        return TurnState(item.turn.state) not in WORKING
    return item.stage != REPLY and not _stage_waits(item)


def _stage_waits(item: ReviewItem) -> bool:
    stage = flow.stage_of(item.turn, item.stage)
    return stage is not None and stage.status == StageStatus.NEEDS_REVIEW.value


def _triage_problem(item: ReviewItem, action: Action) -> str:
    if action in (Action.WRITE, Action.ASK):
        return TRIAGE_ONLY
    if action is Action.RETRY:
        return f"{TRIAGE_ONLY} The model is not asked for it again; correct it instead."
    return _approve_problem(item) if action is Action.APPROVE else ""


def _approve_problem(item: ReviewItem) -> str:
    if item.stage == REPLY:
        if not _held_by_policy(item):
            return "There is no reply yet that could be approved."
        return ""
    stage = flow.stage_of(item.turn, item.stage)
    if stage is None:
        return "The model has not answered here, so there is nothing to approve."
    try:
        answers.approving(stage)
    except Refused as refused:
        return refused.message
    return ""


def _held_by_policy(item: ReviewItem) -> bool:
    waivable = {code.value for code in WAIVABLE}
    return set(item.reasons) <= waivable and flow.follow(item.turn).reply is not None


NOT_UNDOABLE = "There is no decision of yours here that can still be undone."


def undoable(item: ReviewItem) -> list[Decision]:
    """Return the decisions of an item that nobody has answered, the newest first."""
    found = item.decisions.exclude(
        action__in=[Action.UNDO.value, Action.AGREE.value, Action.DISAGREE.value]
    )
    return [d for d in found.order_by("-created_at") if not d.answers.exists()]


def undo_problem(decision: Decision, actor: User, now: datetime) -> str:
    """Return why a decision cannot be undone (by this person), empty when it can."""
    item, action = decision.item, Action(decision.action)
    if not actor.has_perm(locking.DECIDE):
        return NO_RIGHT
    if decision.actor_id != actor.pk and not actor.has_perm(locking.SUPERVISE):
        return "Only its author or a supervisor can undo a decision."
    if locking.held_by_other(item, actor, now):
        return f"{locking.name(item.claimed_by)} is working on this item."
    if second.proposal_of(item) == decision:
        return ""
    newest = item.decisions.order_by("created_at", "id").last()
    if action is Action.HAND_OVER and newest == decision:
        if ReviewState(item.state) in UNDECIDED and decision.output == {
            **(decision.output or {}),
            "agency": item.agency,
        }:
            return ""
        return "The other agency has decided already."
    if action is Action.DISMISS and item.state == ReviewState.DECIDED.value:
        if decision.output is not None:
            return "The citizen has been told already."
        return "" if _waits_again(item) else MOOT
    if action is Action.RETRY:
        return "The model was asked again already."
    return "The decision has taken effect: the citizen has the answer, or is about to."


def _waits_again(item: ReviewItem) -> bool:
    """Whether something would wait for a dismissed item, were it open again."""
    if item.stage not in (*ANSWERING, REPLY):
        return _stage_waits(item)
    return item.turn.state == TurnState.CLOSED.value and not hasattr(item.turn, "reply")

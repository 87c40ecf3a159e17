"""Permission to decide on an item: what has to hold of the person
(:data:`PERSON_CONDITIONS`) and the item (:data:`ITEM_CONDITIONS`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property, partial
from typing import TypeVar

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations.states import PENDING_TURN_STATES, StageStatus, TurnState
from ieim.people.models import User
from ieim.people.selectors import sole_giver
from ieim.pipeline.findings import WAIVABLE
from ieim.pipeline.topology import AWAITED, PERSON, REPLY
from review import scope
from review.crisis import is_crisis
from review.deciding import answers, locking, signing
from review.deciding.locking import Refused
from review.models import Action, Decision, ReviewItem
from review.states import UNDECIDED, ReviewState

NO_RIGHT = gettext_noop("You do not have the right to do this.")
BUSY = gettext_noop("The question is being worked on. Wait until that has ended.")
MOOT = gettext_noop("Nothing waits for this any more.")
FOR_A_PERSON = gettext_noop("The citizen asks for a person: there is nothing of the model's here.")
TRIAGE_ONLY = gettext_noop("This is only about what the message says: no answer waits for it.")
OPINIONS = frozenset({Action.AGREE, Action.DISAGREE})
T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """A person and an item that they see."""

    item: ReviewItem
    actor: User
    now: datetime

    @cached_property
    def opinion_on(self) -> Decision | None:
        """The decision that waits for a second opinion."""
        return opinion_wanted(self.item)


def may(item: ReviewItem, actor: User) -> Mapping[Action, str]:
    """Return for each action "" when the actor may take it now, else the sentence why not."""
    now = timezone.now()
    if not scope.sees(actor, item):
        return dict.fromkeys(Action, gettext(NO_RIGHT))
    # Most conditions are those of many actions: each is evaluated once.
    of_person, of_item = cache(partial(_ask, Case(item, actor, now))), cache(partial(_ask, item))
    return {
        action: _first(map(of_person, PERSON_CONDITIONS[action]))
        or _first(map(of_item, ITEM_CONDITIONS[action]))
        for action in Action
    }


def why_not(item: ReviewItem, actor: User, action: Action, now: datetime) -> str:
    """Return why an action on an item that the actor sees may not be taken, empty when it may."""
    case = Case(item, actor, now)
    return _first(condition(case) for condition in PERSON_CONDITIONS[action]) or state_problem(
        item, action
    )


def state_problem(item: ReviewItem, action: Action) -> str:
    """Return why the state of an item's turn and stage does not allow an action."""
    return _first(condition(item) for condition in ITEM_CONDITIONS[action])


def _first(sentences: Iterable[str]) -> str:
    return next(filter(None, sentences), "")


def _ask(about: T, condition: Callable[[T], str]) -> str:
    return condition(about)


def opinion_wanted(item: ReviewItem) -> Decision | None:
    """Return the decision of an item that waits for a second person, None where none does."""
    if item.state == ReviewState.SENDING.value:
        return None
    proposal = signing.proposal_of(item)
    return None if proposal is None or signing.waits_for_signatures(item, proposal) else proposal


def _may_decide(case: Case) -> str:
    return "" if case.actor.has_perm(locking.DECIDE) else gettext(NO_RIGHT)


def _may_give_opinions(case: Case) -> str:
    return "" if case.actor.has_perm(locking.SECOND) else gettext(NO_RIGHT)


def _may_send_back(case: Case) -> str:
    waits_for_opinion = case.opinion_on is not None
    return _may_give_opinions(case) if waits_for_opinion else _may_decide(case)


def _undecided(case: Case) -> str:
    decided = case.item.state in (ReviewState.DECIDED.value, ReviewState.SENDING.value)
    return gettext("This item has been decided.") if decided else ""


def _has_claim(case: Case) -> str:
    return locking.claim_problem(case.item, case.actor, case.now)


def _waits_for_no_opinion(case: Case) -> str:
    waits = gettext("A decision waits for a second opinion: agree or send it back.")
    return waits if case.opinion_on is not None else ""


def _may_change(case: Case) -> str:
    """Return why the decision that waits may not be decided anew; a second person may do that."""
    if case.opinion_on is None:
        return ""
    return _waits_for_no_opinion(case) if _may_give_opinions(case) else _of_another(case)


def _of_another(case: Case) -> str:
    return _made_by_another(case, case.opinion_on)


def _waits_for_others(case: Case) -> str:
    return _made_by_another(case, signing.proposal_of(case.item))


def _made_by_another(case: Case, proposal: Decision | None) -> str:
    if proposal is None:
        return gettext("There is no decision yet that needs a second opinion.")
    if proposal.actor_id == case.actor.pk:
        return gettext("You made this decision yourself. Somebody else has to look at it.")
    return too_new(case.actor, proposal.actor, case.now)


def too_new(actor: User, author: User, now: datetime) -> str:
    """Return why two accounts may be one person's for now, empty where nothing says so."""
    if sole_giver(actor, now):
        return gettext(
            "One administrator alone gave you your account or rights, less than a day ago. Somebody"
            " else has to sign, or you tomorrow, or once a second administrator has given you some."
        )
    if sole_giver(author, now) == f"staff:{actor.get_username()}":
        return gettext(
            "You gave who decided this their account or rights, less than a day ago. Somebody else"
            " has to sign, or you tomorrow."
        )
    return ""


def _idle(item: ReviewItem) -> str:
    return gettext(BUSY) if TurnState(item.turn.state) in PENDING_TURN_STATES else ""


def _awaited(item: ReviewItem) -> str:
    return gettext(MOOT) if is_moot(item) else ""


def _answers(item: ReviewItem) -> str:
    return gettext(TRIAGE_ONLY) if _of_triage(item) else ""


def _of_model(item: ReviewItem) -> str:
    return gettext(FOR_A_PERSON) if item.stage == PERSON else ""


def _of_person(item: ReviewItem) -> str:
    return "" if item.stage == PERSON else gettext("The citizen has not asked for a person here.")


def _asks_again(item: ReviewItem) -> str:
    if _of_triage(item):
        again = gettext("The model is not asked for it again; correct it instead.")
        return f"{gettext(TRIAGE_ONLY)} {again}"
    if item.stage == REPLY and _held_by_policy(item):
        return gettext(
            "The model has answered, and its answer passed. Approve the reply or correct it."
        )
    return ""


def _corrects(item: ReviewItem) -> str:
    if item.stage == REPLY and not answers.done_answers(item.turn):
        return gettext("No stage has an answer yet that could be corrected. Write the reply.")
    return ""


def _approves(item: ReviewItem) -> str:
    if item.stage == REPLY:
        return (
            ""
            if _held_by_policy(item)
            else gettext("There is no reply yet that could be approved.")
        )
    stage = answers.stage_of(item.turn, item.stage)
    if stage is None:
        return gettext("The model has not answered here, so there is nothing to approve.")
    try:
        answers.approving(stage)
    except Refused as refused:
        return refused.message
    return ""


def _undoes(case: Case) -> str:
    problems = (undo_problem(d, case.actor, case.now) for d in undoable(case.item))
    return gettext(NOT_UNDOABLE) if all(problems) else ""


_DECIDER = (_may_decide, _undecided, _has_claim)

PERSON_CONDITIONS: Mapping[Action, tuple[Callable[[Case], str], ...]] = {
    **dict.fromkeys(Action, (*_DECIDER, _may_change)),
    **dict.fromkeys((Action.HAND_OVER, Action.DONE), (*_DECIDER, _waits_for_no_opinion)),
    Action.AGREE: (_may_give_opinions, _undecided, _has_claim, _of_another),
    Action.DISAGREE: (_may_send_back, _undecided, _has_claim, _waits_for_others),
    Action.UNDO: (_undoes,),
}
"""What has to hold of the person and of their hold on the item. A condition returns the sentence
why it does not hold, empty when it does; the user reads the first that is not empty."""

ITEM_CONDITIONS: Mapping[Action, tuple[Callable[[ReviewItem], str], ...]] = {
    Action.APPROVE: (_of_model, _idle, _awaited, _approves),
    Action.OVERRIDE: (_of_model, _idle, _awaited, _corrects),
    Action.SERVICE: (_of_model, _idle, _awaited, _answers),
    Action.WRITE: (_idle, _awaited, _answers),
    Action.ASK: (_idle, _awaited, _answers),
    Action.RETRY: (_of_model, _idle, _awaited, _asks_again),
    Action.DONE: (_of_person, _idle, _awaited),
    Action.DISMISS: (_idle,),
    Action.HAND_OVER: (),
    Action.AGREE: (),
    Action.DISAGREE: (),
    Action.UNDO: (),
}
"""What has to hold of the item, its stage and its turn, likewise."""


def needs_opinion(item: ReviewItem, action: Action) -> bool:
    """Whether a decision has to wait until a second person has agreed.

    What nothing waits for may be dismissed by one, unless it is in crisis: then nobody but the
    two of them would ever look at the danger.
    """
    if action in (Action.HAND_OVER, Action.DONE):
        return False
    if action is Action.DISMISS and is_moot(item) and not is_crisis(item):
        return False
    return signing.needs_second(item)


def is_moot(item: ReviewItem) -> bool:
    """Whether nothing waits for an item: its turn has ended, or its stage has got an answer."""
    if _of_triage(item):
        return not _stage_waits(item)
    if item.turn.state != TurnState.NEEDS_REVIEW.value:
        return TurnState(item.turn.state) not in PENDING_TURN_STATES
    return item.stage not in (REPLY, PERSON) and not _stage_waits(item)


def _stage_waits(item: ReviewItem) -> bool:
    stage = answers.stage_of(item.turn, item.stage)
    return stage is not None and stage.status == StageStatus.NEEDS_REVIEW.value


def _of_triage(item: ReviewItem) -> bool:
    return item.stage not in AWAITED


def _held_by_policy(item: ReviewItem) -> bool:
    waivable = {code.value for code in WAIVABLE}
    return set(item.reasons) <= waivable and answers.follow(item.turn).reply is not None


NOT_UNDOABLE = gettext_noop("There is no decision of yours here that can still be undone.")


def undoable(item: ReviewItem) -> list[Decision]:
    """Return the decisions of an item that nobody has answered, the newest first."""
    decisions = item.decisions.exclude(action__in=[Action.UNDO, *OPINIONS])
    return [d for d in decisions.order_by("-created_at") if not d.answers.exists()]


def undo_problem(decision: Decision, actor: User, now: datetime) -> str:
    """Return why a decision cannot be undone (by this person), empty when it can."""
    item, action = decision.item, Action(decision.action)
    if not actor.has_perm(locking.DECIDE):
        return gettext(NO_RIGHT)
    if decision.actor_id != actor.pk and not actor.has_perm(locking.SUPERVISE):
        return gettext("Only its author or a supervisor can undo a decision.")
    if problem := locking.other_holder_problem(item, actor, now):
        return problem
    if signing.proposal_of(item) == decision:
        return ""
    newest = item.decisions.order_by("created_at", "id").last()
    if action is Action.HAND_OVER and newest == decision:
        if ReviewState(item.state) in UNDECIDED and decision.output == {
            **(decision.output or {}),
            "agency": item.agency,
        }:
            return ""
        return gettext("The other agency has decided already.")
    if item.stage == PERSON:
        return gettext("What is needed to reach the citizen went with the decision.")
    if action is Action.DISMISS and item.state == ReviewState.DECIDED.value:
        if decision.output is not None:
            return gettext("The citizen has been told already.")
        return "" if _waits_again(item) else gettext(MOOT)
    if action is Action.RETRY:
        return gettext("The model was asked again already.")
    return gettext("The decision has taken effect: the citizen has the answer, or is about to.")


def _waits_again(item: ReviewItem) -> bool:
    """Whether something would wait for a dismissed item, were it open again."""
    if _of_triage(item):
        return _stage_waits(item)
    return item.turn.state == TurnState.CLOSED.value and not hasattr(item.turn, "reply")

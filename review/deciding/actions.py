"""Prepare each action (or refuse it), and carry it out once it is permitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from conversations.person import services as asking
from conversations.person.models import RequestState
from conversations.states import StageStatus, TurnState
from conversations.turns import resuming
from conversations.turns.resuming import NotWaiting
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.pipeline.canonical import dumps
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import ANSWERING, AWAITED, PERSON, REPLY
from review.deciding import answers, permitted, records, texts
from review.deciding.answers import Answer
from review.deciding.locking import Conflict, Refused
from review.deciding.records import Content
from review.models import Action, Decision, ReviewItem


@dataclass(frozen=True, slots=True)
class Prepared:
    """A decision that may be taken: its record's ``content``, and the answer or reply it sets."""

    action: Action
    content: Content = field(default_factory=Content)
    answer: Answer | None = None
    reply: Reply | None = None
    agency: str = ""


def prepare(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> Prepared:
    """Check what a person decides, without changing anything; raises :class:`Refused`."""
    if action is Action.APPROVE:
        return _approve(item)
    if action is Action.OVERRIDE:
        return _override(item, payload)
    if action in (Action.WRITE, Action.ASK):
        return _write(item, action, payload)
    if action is Action.DISMISS:
        return _dismiss(item, payload)
    if action is Action.HAND_OVER:
        return _hand_over(item, payload)
    return Prepared(action, Content(contract=_contract(item)))


def again(decision: Decision) -> Prepared:
    """Prepare a stored proposal again, judged against the present state."""
    item, action = decision.item, Action(decision.action)
    problem = permitted.state_problem(item, action)
    if problem:
        raise Refused(problem)
    if action is Action.OVERRIDE:
        payload = {"stage": decision.artifacts["stage"], "output": decision.output}
        return _override(item, payload)
    if action in (Action.WRITE, Action.ASK, Action.DISMISS):
        # The words were checked when they were written, against the same release.
        reply = None if decision.output is None else Reply.from_dict(decision.output)
        return Prepared(action, reply=reply)
    prepared = prepare(item, action, {})
    if action is Action.APPROVE and dumps(prepared.content.output) != dumps(decision.output):
        raise Refused(
            gettext("What was approved has changed since. Claim the item and decide it anew.")
        )
    return prepared


@contextmanager
def unmoved() -> Iterator[None]:
    """Raise :class:`Conflict` where the turn moved on meanwhile."""
    try:
        yield
    except NotWaiting as error:
        raise Conflict(
            gettext("The question moved on meanwhile. Look at the item again.")
        ) from error


@unmoved()
def carry_out(item: ReviewItem, prepared: Prepared, actor: User) -> None:
    """Apply the decision to the turn; raises :class:`Conflict` where it moved on meanwhile."""
    turn, action, by = item.turn, prepared.action, actor.actor
    if action in (Action.DISMISS, Action.DONE):
        if closes(item):
            reason = "dismissed" if action is Action.DISMISS else "done"
            resuming.close(turn=turn, reply=prepared.reply, by=by, reason=reason)
    elif prepared.reply is not None:
        resuming.answer(turn=turn, reply=prepared.reply, by=by)
    elif prepared.answer is not None:
        _put(item, action, prepared.answer)
    elif action is Action.RETRY:
        stage = answers.stage_of(turn, item.stage)
        if stage is not None:
            resuming.ask_again(stage=stage)
        resuming.resume(turn=turn)
    else:
        resuming.resume(turn=turn, hold_waived=True)
    if item.stage == PERSON:
        ended = RequestState.CLOSED if action is Action.DISMISS else RequestState.ANSWERED
        asking.finish(turn_id=turn.pk, state=ended, actor=by)


def _put(item: ReviewItem, action: Action, answer: Answer) -> None:
    stage = answers.stage_of(item.turn, answer.contract)
    if stage is None:
        raise Refused(gettext("This stage has not run, so it has no answer to correct."))
    approved = action is Action.APPROVE
    resuming.put_answer(
        stage=stage,
        status=StageStatus.APPROVED if approved else StageStatus.OVERRIDDEN,
        output=answer.output,
        state_merge=answer.state_merge,
        evidence=answer.evidence,
        result=answer.result,
    )
    if answer.contract in ANSWERING:
        resuming.resume(turn=item.turn)


def closes(item: ReviewItem) -> bool:
    """Whether dismissing an item closes its turn: not for triage, nor where nothing waits."""
    return item.stage in AWAITED and not permitted.is_moot(item)


def was_closed(item: ReviewItem) -> bool:
    """Whether the turn of a dismissed item was closed by it, as far as one can see."""
    return item.stage in AWAITED and item.turn.state == TurnState.CLOSED.value


def _approve(item: ReviewItem) -> Prepared:
    if item.stage == REPLY:
        reply = _composed(item)
        return Prepared(Action.APPROVE, Content(reply, reply))
    stage = answers.stage_of(item.turn, item.stage)
    if stage is None:
        raise Refused(gettext("The model has not answered here, so there is nothing to approve."))
    return _put_in_place(item, Action.APPROVE, answers.approving(stage))


def _override(item: ReviewItem, payload: Mapping[str, Any]) -> Prepared:
    contract = payload.get("stage", item.stage)
    # Triage is corrected where it failed; the flow also where a fault shows only further on.
    earlier = [*answers.done_answers(item.turn)] if item.stage in (*ANSWERING, REPLY) else []
    correctable = {item.stage, *earlier} & (ANSWERING | {item.stage}) - {REPLY}
    if not isinstance(contract, str) or contract not in correctable:
        raise Refused(
            gettext("Say which stage is corrected: this one, or one before it that has run.")
        )
    return _put_in_place(
        item, Action.OVERRIDE, answers.overriding(contract, item.turn, payload.get("output"))
    )


def _put_in_place(item: ReviewItem, action: Action, answer: Answer) -> Prepared:
    original = records.last_readable(answers.stage_of(item.turn, answer.contract))
    content = Content(answer.output, original, answer.evidence, answer.contract)
    return Prepared(action, content, answer=answer)


def _write(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> Prepared:
    reply = texts.written(action, item.turn, payload)
    content = Content(reply.as_dict(), _composed(item), contract=_contract(item))
    return Prepared(action, content, reply=reply)


def _dismiss(item: ReviewItem, payload: Mapping[str, Any]) -> Prepared:
    if not payload.get("text"):
        return Prepared(Action.DISMISS, Content(contract=_contract(item)))
    if not closes(item):
        raise Refused(
            gettext("The citizen is not told of this: nothing waits for it. Leave the text out.")
        )
    return _write(item, Action.DISMISS, payload)


def _hand_over(item: ReviewItem, payload: Mapping[str, Any]) -> Prepared:
    agency = payload.get("agency")
    if (
        not isinstance(agency, str)
        or agency not in knowledge.release(item.turn.release_number).agencies
    ):
        raise Refused(gettext("There is no such agency. Choose one from the list."))
    if agency == item.agency:
        raise Refused(gettext("The item is with this agency already. Choose another one."))
    before = {"from": item.agency, "agencies": list(item.agency_ids)}
    content = Content({"agency": agency, **before}, contract=_contract(item))
    return Prepared(Action.HAND_OVER, content, agency=agency)


def _contract(item: ReviewItem) -> str:
    return "" if item.stage in (REPLY, PERSON) else item.stage


def _composed(item: ReviewItem) -> dict[str, Any] | None:
    """Return the reply that the pipeline has ready, None where it has none."""
    reply = answers.follow(item.turn).reply
    return None if reply is None else reply.as_dict()

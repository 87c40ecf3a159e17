"""Actions on an item: preparing one (or refusing it), its preview, and carrying it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from conversations.person import services as asking
from conversations.person.models import RequestState
from conversations.states import StageStatus, TurnState
from conversations.turns import choosing, languages, resuming
from conversations.turns.resuming import NotWaiting
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import dumps
from ieim.pipeline.choosing import NotOffered
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate.gate import EvidenceDict
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import ANSWERING, AWAITED, PERSON, REPLY
from ieim.pipeline.work import Chosen
from ieim.studio.labels import stage_label
from review.deciding import answers, locking, outdated, permitted, signing, texts
from review.deciding.answers import Answer
from review.deciding.locking import Conflict, Refused
from review.labels import agency_name
from review.models import Action, Decision, ReviewItem


@dataclass(frozen=True, slots=True)
class Prepared:
    """A decision that may be taken: the content of its record, and its effect.

    ``contract`` is the stage whose last attempt was judged, empty for none. ``output`` is the new
    answer, ``original`` the model's last readable one to the same stage. ``answer``, ``reply`` or
    ``results`` (those of all stages) take effect, ``agency`` is the one that gets the item.
    """

    action: Action
    contract: str = ""
    output: Any = None
    original: Any = None
    evidence: Sequence[EvidenceDict] = ()
    answer: Answer | None = None
    reply: Reply | None = None
    results: tuple[Chosen, ...] = ()
    agency: str = ""

    @property
    def sends_reply(self) -> bool:
        """Whether the citizen reads something of it."""
        return signing.sends_reply(self.action, self.contract, words=self.reply is not None)


def prepare(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> Prepared:
    """Check what a person decides, without changing anything; raises :class:`Refused`."""
    match action:
        case Action.APPROVE:
            return _approve(item)
        case Action.OVERRIDE:
            return _override(item, payload)
        case Action.SERVICE:
            return _serve(item, payload)
        case Action.WRITE | Action.ASK:
            return _write(item, action, payload)
        case Action.DISMISS:
            return _dismiss(item, payload)
        case Action.HAND_OVER:
            return _hand_over(item, payload)
    return Prepared(action, _contract(item))


def prepare_again(decision: Decision) -> Prepared:
    """Prepare a stored proposal, judged against the present state; raises :class:`Refused`."""
    item, action = decision.item, Action(decision.action)
    problem = permitted.state_problem(item, action)
    if problem:
        raise Refused(problem)
    if action is Action.OVERRIDE:
        payload = {"stage": decision.artifacts["stage"], "output": decision.output}
        return _override(item, payload)
    if action is Action.SERVICE:
        source = Reply.from_dict(decision.output or {}).sources[0]
        payload = {"agency": source.agency_id, "service": source.service_key}
        return _unchanged(_serve(item, payload), decision)
    if action in (Action.WRITE, Action.ASK, Action.DISMISS):
        # The words were checked when they were written, against the same release.
        reply = None if decision.output is None else Reply.from_dict(decision.output)
        return Prepared(action, reply=reply)
    prepared = prepare(item, action, {})
    return _unchanged(prepared, decision) if action is Action.APPROVE else prepared


def _unchanged(prepared: Prepared, decision: Decision) -> Prepared:
    if dumps(prepared.output) != dumps(decision.output):
        raise Refused(
            gettext("What was approved has changed since. Claim the item and decide it anew.")
        )
    return prepared


@contextmanager
def conflict_if_moved() -> Iterator[None]:
    """Raise :class:`Conflict` where the turn moved on meanwhile."""
    try:
        yield
    except NotWaiting as error:
        raise Conflict(
            gettext("The question moved on meanwhile. Look at the item again.")
        ) from error


@conflict_if_moved()
def carry_out(item: ReviewItem, prepared: Prepared, actor: User) -> None:
    """Apply the decision to the turn; raises :class:`Conflict` where it moved on meanwhile."""
    turn, action, by = item.turn, prepared.action, actor.actor
    if action in (Action.DISMISS, Action.DONE):
        if closes(item):
            reason = "dismissed" if action is Action.DISMISS else "done"
            resuming.close(turn=turn, reply=prepared.reply, by=by, reason=reason)
    elif prepared.results:
        choosing.put_service(turn=turn, results=prepared.results)
        resuming.resume(turn=turn, hold_waived=True)
    elif prepared.reply is not None:
        resuming.answer(turn=turn, reply=prepared.reply, by=by)
    elif prepared.answer is not None:
        _replace_answer(item, action, prepared.answer)
    elif action is Action.RETRY:
        stage, newer = answers.stage_of(turn, item.stage), outdated.askable_release(turn)
        if newer is not None:
            resuming.renew_release(turn=turn, release_number=newer)
        elif stage is not None:
            resuming.ask_again(stage=stage)
        resuming.resume(turn=turn)
    else:
        resuming.resume(turn=turn, hold_waived=True)
    if item.stage == PERSON:
        ended = RequestState.CLOSED if action is Action.DISMISS else RequestState.ANSWERED
        asking.finish(turn_id=turn.pk, state=ended, actor=by)


def _replace_answer(item: ReviewItem, action: Action, answer: Answer) -> None:
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
        return Prepared(Action.APPROVE, output=reply, original=reply)
    stage = answers.stage_of(item.turn, item.stage)
    if stage is None:
        raise Refused(gettext("The model has not answered here, so there is nothing to approve."))
    return _prepare_answer(item, Action.APPROVE, answers.approving(stage))


def _override(item: ReviewItem, payload: Mapping[str, Any]) -> Prepared:
    contract = payload.get("stage", item.stage)
    # Triage is corrected where it failed; the flow also where a fault shows only further on.
    earlier = [*answers.done_answers(item.turn)] if item.stage in (*ANSWERING, REPLY) else []
    correctable = {item.stage, *earlier} & (ANSWERING | {item.stage}) - {REPLY}
    if not isinstance(contract, str) or contract not in correctable:
        raise Refused(
            gettext("Say which stage is corrected: this one, or one before it that has run.")
        )
    return _prepare_answer(
        item, Action.OVERRIDE, answers.overriding(contract, item.turn, payload.get("output"))
    )


def _serve(item: ReviewItem, payload: Mapping[str, Any]) -> Prepared:
    """Answer with a service of the release: the results of all stages, each through the gate."""
    release = languages.release_of(item.turn)
    agency, key = payload.get("agency"), payload.get("service")
    service = release.services.get((str(agency), str(key)))
    if service is None:
        raise Refused(gettext("There is no such service. Choose one from the list."))
    try:
        results = choosing.results_of_staff(item.turn, service)
    except NotOffered as error:
        message = gettext(
            "“{name}” cannot be sent as it is: its agency has no topic that leads to it. Write the"
            " reply, and tell the editors."
        )
        raise Refused(message.format(name=service.name)) from error
    replaced = {result.contract: (result.output, result.state_merge) for result in results}
    reply = answers.follow(item.turn, replaced).reply
    if reply is None:
        raise RuntimeError(f"the results of {agency}/{key} lead to no reply")
    original = _composed(item)
    return Prepared(Action.SERVICE, output=reply.as_dict(), original=original, results=results)


def _prepare_answer(item: ReviewItem, action: Action, answer: Answer) -> Prepared:
    original = answers.last_readable(answers.stage_of(item.turn, answer.contract))
    return Prepared(
        action, answer.contract, answer.output, original, answer.evidence, answer=answer
    )


def _write(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> Prepared:
    reply = texts.written(action, item.turn, payload)
    return Prepared(action, _contract(item), reply.as_dict(), _composed(item), reply=reply)


def _dismiss(item: ReviewItem, payload: Mapping[str, Any]) -> Prepared:
    if not payload.get("text"):
        return Prepared(Action.DISMISS, _contract(item))
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
    output = {"agency": agency, "from": item.agency, "agencies": list(item.agency_ids)}
    return Prepared(Action.HAND_OVER, _contract(item), output, agency=agency)


def _contract(item: ReviewItem) -> str:
    return "" if item.stage in (REPLY, PERSON) else item.stage


def _composed(item: ReviewItem) -> dict[str, Any] | None:
    """Return the reply that the pipeline has ready, None where it has none."""
    reply = answers.follow(item.turn).reply
    return None if reply is None else reply.as_dict()


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of a decision: the citizen's ``reply``, None where it alone makes none.

    ``happens`` says what happens next, in a sentence or two. ``warnings`` are for who writes a
    reply: what its sources do not say. ``sees`` says what changes for the citizen at once where no
    reply is made; empty for nothing.
    """

    reply: Reply | None
    happens: str
    warnings: tuple[Finding, ...] = ()
    sees: str = ""


def preview(*, item_id: UUID, actor: User, action: Action, payload: Mapping[str, Any]) -> Preview:
    """Return what a decision would lead to, whether the item is claimed or not. Reads only.

    Raises:
        ReviewItem.DoesNotExist: for an item that the actor may not see.
        Refused: as the decision would.
    """
    item = locking.find(item_id, actor)
    problem = permitted.state_problem(item, action)
    if problem:
        raise Refused(problem)
    if action in permitted.OPINIONS:
        proposal = signing.proposal_of(item)
        if proposal is None:
            raise Refused(gettext("There is no decision that waits for a second opinion."))
        if action is Action.DISAGREE:
            back = gettext("Nothing is sent. It goes back to {name}, who reads your note.")
            return Preview(None, back.format(name=proposal.actor.display_name))
        proposal.item = item
        return _preview_of(item, proposal.actor, prepare_agreed(proposal), waits="")
    prepared = prepare(item, action, payload)
    return _preview_of(item, actor, prepared, waits=_waits_for(item, actor, prepared))


def prepare_agreed(proposal: Decision) -> Prepared:
    """Prepare a stored proposal that others agree to.

    Raises:
        Refused: also where a service that it would send has changed since its author looked at it.
    """
    item, prepared = proposal.item, prepare_again(proposal)
    reply, _ = outcome(item, proposal.actor, prepared)
    changes = outdated.changes_since(item.turn, reply)
    if changes is not None and proposal.artifacts.get("live_release") != changes.live:
        message = gettext("{changes} Decide it anew, or send it back.")
        raise Refused(message.format(changes=changes))
    return prepared


def _preview_of(item: ReviewItem, actor: User, prepared: Prepared, *, waits: str) -> Preview:
    reply, happens = outcome(item, actor, prepared)
    warnings = _warnings(item, prepared, reply)
    if waits:
        then = f"{happens[0].lower()}{happens[1:]}"
        happens = gettext("{first} After that, {then}").format(first=waits, then=then)
    sees = "" if waits or reply is not None else _sees(item, prepared.action)
    return Preview(reply, happens, warnings=warnings, sees=sees)


def ungrounded(item: ReviewItem, prepared: Prepared, reply: Reply | None) -> list[Finding]:
    """Return the facts that the words of a person state and their sources do not."""
    warnings = _warnings(item, prepared, reply)
    return [finding for finding in warnings if finding.code is Code.REPLY_UNGROUNDED]


def _warnings(item: ReviewItem, prepared: Prepared, reply: Reply | None) -> tuple[Finding, ...]:
    typed = prepared.action is Action.WRITE or (
        prepared.action is Action.OVERRIDE and prepared.contract == signing.ANSWER
    )
    return tuple(texts.warnings(item.turn, reply)) if typed and reply is not None else ()


def _sees(item: ReviewItem, action: Action) -> str:
    if not closes(item):
        return ""
    if action is Action.DISMISS:
        return gettext("The citizen sees that this is closed")
    if action is Action.DONE:
        return gettext("The citizen sees that a person has been in touch")
    return ""


def _waits_for(item: ReviewItem, actor: User, prepared: Prepared) -> str:
    """Return what has to happen before the decision takes effect."""
    if prepared.action is Action.HAND_OVER:
        return ""
    first = ""
    if prepared.sends_reply and (others := _others(item, actor)):
        first = gettext("Nothing happens before {others} has signed, too.").format(others=others)
    needed = permitted.needs_opinion(item, prepared.action)
    opinion = gettext("Nothing happens until a second person has agreed.") if needed else ""
    return f"{first} {opinion}".strip()


def _others(item: ReviewItem, actor: User) -> str:
    """Return the names of the agencies that have to sign besides the actor's; empty for none."""
    scope = agencies_of(actor)
    # Who decides signs for their own agencies at once.
    others = [a for a in signing.signing_agencies(item) if scope is not None and a not in scope]
    release = knowledge.release(item.turn.release_number)
    names = [agency_name(release, agency) for agency in others]
    both = gettext("{first} and {second}")
    return reduce(lambda first, second: both.format(first=first, second=second), names or [""])


def outcome(item: ReviewItem, actor: User, prepared: Prepared) -> tuple[Reply | None, str]:
    """Return the reply that a decision sends, None for none, and what happens, in a sentence."""
    action = prepared.action
    if action is Action.HAND_OVER:
        to = knowledge.release(item.turn.release_number).agencies[prepared.agency].name
        goes = gettext("The item goes to the queue of {agency}. The citizen is told nothing yet.")
        return None, goes.format(agency=to)
    if action is Action.DISMISS:
        return _dismissed(item, prepared)
    if action is Action.ASK:
        return prepared.reply, gettext(
            "The citizen reads this at once; what they write is a new question."
        )
    if prepared.results:
        return Reply.from_dict(prepared.output), gettext("The citizen gets this reply at once.")
    if prepared.reply is not None:
        return prepared.reply, gettext("The citizen gets this reply at once.")
    if action is Action.DONE:
        return None, gettext("The item is done. The citizen sees that a person has been in touch.")
    if item.stage not in AWAITED:
        return None, gettext("The item is done. No answer to the citizen changes.")
    if action is Action.RETRY:
        again = gettext("The model is asked again. If that fails too, a new item comes here.")
        newer = outdated.askable_release(item.turn)
        return None, again if newer is None else f"{outdated.from_newer(newer)} {again}"
    return _resumed(item, actor, prepared)


def _dismissed(item: ReviewItem, prepared: Prepared) -> tuple[Reply | None, str]:
    if not closes(item):
        return None, gettext("The item is done. No answer to the citizen changes.")
    if prepared.reply is not None:
        return prepared.reply, gettext("The question is closed, and the citizen reads this.")
    return None, gettext("This is closed, and the citizen sees that. No answer follows.")


def _resumed(item: ReviewItem, actor: User, prepared: Prepared) -> tuple[Reply | None, str]:
    answer = prepared.answer
    if answer is None:
        return answers.follow(item.turn).reply, gettext("The citizen gets this reply at once.")
    replaced = {answer.contract: (answer.output, answer.state_merge)}
    result = answers.follow(item.turn, replaced, shown_text=answer.shown_text)
    later = "" if answer.contract == signing.ANSWER else _others(item, actor)
    signs = gettext("Before it leaves, {others} has to sign.").format(others=later) if later else ""
    if result.reply is None:
        following = stage_label(result.waiting)
        message = gettext("The question goes on to the next step: {step} Then comes the answer.")
        goes = message.format(step=following)
        return None, f"{goes} {signs}".strip()
    if answers.policy_findings(item.turn, replaced):
        return result.reply, gettext(
            "This is the reply. The rules hold it: it comes back for approval."
        )
    if signs:
        message = gettext("This is the reply. It comes back for approval. {then}")
        return result.reply, message.format(then=signs)
    return result.reply, gettext("The citizen gets this reply at once.")

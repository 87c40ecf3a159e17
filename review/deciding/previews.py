"""What a decision would lead to, before it is taken. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.findings import Finding
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import AWAITED
from ieim.studio.labels import stage_label
from review.deciding import actions, answers, locking, outdated, permitted, signing, texts
from review.deciding.actions import Prepared
from review.deciding.locking import Refused
from review.labels import agency_name
from review.models import Action, Decision, ReviewItem


@dataclass(frozen=True, slots=True)
class Preview:
    """What the citizen will get: ``reply``, or None where the decision alone makes none.

    ``happens`` says what happens next, in a sentence or two. ``warnings`` are for who writes a
    reply, and stop nothing: what it states that its sources do not. ``sees`` says what changes for
    the citizen at once where no reply is made; empty for nothing.
    """

    reply: Reply | None
    happens: str
    warnings: tuple[Finding, ...] = ()
    sees: str = ""


def preview(*, item_id: UUID, actor: User, action: Action, payload: Mapping[str, Any]) -> Preview:
    """Return what a decision would lead to, whether the item is claimed or not.

    Raises ``ReviewItem.DoesNotExist``, and :class:`Refused` as the decision would.
    """
    item = locking.find(item_id, actor)
    problem = permitted.state_problem(item, action)
    if problem:
        raise Refused(problem)
    proposal = signing.proposal_of(item)
    if action is Action.DISAGREE:
        return Preview(
            None, gettext("Nothing is sent. The item is open again, and both records stay.")
        )
    if action is Action.AGREE:
        if proposal is None:
            raise Refused(gettext("There is no decision that waits for a second opinion."))
        proposal.item = item
        return _led_to(item, proposal.actor, agreed(proposal), waits="")
    prepared = actions.prepare(item, action, payload)
    return _led_to(item, actor, prepared, waits=_waits_for(item, actor, prepared))


def agreed(proposal: Decision) -> Prepared:
    """Prepare a stored proposal again; raises :class:`Refused` where a service that it would send
    has changed since its author looked at it."""
    item, prepared = proposal.item, actions.again(proposal)
    reply, _ = outcome(item, proposal.actor, prepared)
    changes = outdated.changes_since(item.turn, reply)
    if changes is not None and proposal.artifacts.get("live_release") != changes.live:
        message = gettext("{changes} Disagree, or have it taken back: it is decided anew then.")
        raise Refused(message.format(changes=changes))
    return prepared


def _led_to(item: ReviewItem, actor: User, prepared: Prepared, *, waits: str) -> Preview:
    reply, happens = outcome(item, actor, prepared)
    warnings: tuple[Finding, ...] = ()
    typed = prepared.action is Action.WRITE or (
        prepared.action is Action.OVERRIDE and prepared.content.contract == signing.ANSWER
    )
    if typed and reply is not None:
        warnings = tuple(texts.warnings(item.turn, reply))
    if waits:
        then = f"{happens[0].lower()}{happens[1:]}"
        happens = gettext("{first} After that, {then}").format(first=waits, then=then)
    sees = "" if waits or reply is not None else _sees(item, prepared.action)
    return Preview(reply, happens, warnings=warnings, sees=sees)


def _sees(item: ReviewItem, action: Action) -> str:
    if not actions.closes(item):
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
    sends = signing.sends_reply(
        prepared.action, prepared.content.contract, words=prepared.reply is not None
    )
    first = ""
    if sends and (others := _others(item, actor)):
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
    names = [agency_name(release, each) for each in others]
    both = gettext("{first} and {second}")
    return reduce(lambda first, second: both.format(first=first, second=signing), names or [""])


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
    if prepared.reply is not None:
        return prepared.reply, gettext("The citizen gets this reply at once.")
    if action is Action.DONE:
        return None, gettext("The item is done. The citizen sees that a person has been in touch.")
    if item.stage not in AWAITED:
        return None, gettext("The item is done. No answer to the citizen changes.")
    if action is Action.RETRY:
        return None, gettext("The model is asked again. If that fails too, a new item comes here.")
    return _resumed(item, actor, prepared)


def _dismissed(item: ReviewItem, prepared: Prepared) -> tuple[Reply | None, str]:
    if not actions.closes(item):
        return None, gettext("The item is done. No answer to the citizen changes.")
    if prepared.reply is not None:
        return prepared.reply, gettext("The question is closed, and the citizen reads this.")
    return None, gettext("This is closed, and the citizen sees that. No answer follows.")


def _resumed(item: ReviewItem, actor: User, prepared: Prepared) -> tuple[Reply | None, str]:
    answer = prepared.answer
    if answer is None:
        return answers.follow(item.turn).reply, gettext("The citizen gets this reply at once.")
    put = {answer.contract: (answer.output, answer.state_merge)}
    way = answers.follow(item.turn, put, shown_text=answer.shown_text)
    later = "" if answer.contract == signing.ANSWER else _others(item, actor)
    signs = gettext("Before it leaves, {others} has to sign.").format(others=later) if later else ""
    if way.reply is None:
        following = stage_label(way.waiting)
        message = gettext("The question goes on to the next step: {step} Then comes the answer.")
        goes = message.format(step=following)
        return None, f"{goes} {signs}".strip()
    if answers.policy_findings(item.turn, put):
        return way.reply, gettext(
            "This is the reply. The rules hold it: it comes back for approval."
        )
    if signs:
        message = gettext("This is the reply. It comes back for approval. {then}")
        return way.reply, message.format(then=signs)
    return way.reply, gettext("The citizen gets this reply at once.")

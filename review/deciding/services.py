"""Writes: deciding an item, signing a decision, and undoing one, each with its record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import jsonpatch
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from conversations.queueing import queue_after_commit
from conversations.turns import moves, resuming
from ieim.audit import services as audit
from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.reading import forget
from ieim.people.scope import agencies_of
from ieim.pipeline.canonical import dumps
from review import scope
from review.audited import DECISION, SIGN_OFF
from review.deciding import actions, answers, locking, outdated, permitted, signing
from review.deciding.actions import Prepared, was_closed
from review.deciding.locking import NO_CLAIM, Conflict, Outdated, Refused, Unsourced
from review.models import Action, Decision, ReviewItem, SignOff
from review.reading import READ
from review.states import ReviewState

logger = logging.getLogger(__name__)

TAKE_EFFECT = "review.tasks.take_effect"


@transaction.atomic
def decide(
    *,
    item_id: UUID,
    actor: User,
    version: int,
    action: Action,
    reason: str,
    payload: Mapping[str, Any],
    delay: timedelta = timedelta(),
    now: datetime | None = None,
) -> Decision:
    """Decide an item that the actor has claimed; the turn goes on at once, or is ended.

    With a ``delay`` it does so only after that, where the message shows no danger and nobody else
    has a say: until then the decision can be undone.

    Where others have to agree or to sign first, the decision is stored and nothing else happens.
    What a second person decides anew takes the place of the decision that waits for them. A
    decision that is disagreed with goes back to its author, with the reason as a note.
    ``payload`` by action: approve ``{"confirmed": true}`` in a crisis, override ``{"output": {...},
    "stage": id}`` (the stage is the item's own when left out, or an earlier one of the flow that
    has run), service ``{"agency", "service"}``, write ``{"text", "sources": [{"agency",
    "service"}]}``, ask ``{"text"}``, hand over ``{"agency"}``, dismiss ``{"text"}`` or nothing;
    nothing for the others. Each of the first four with ``"confirmed": true`` where it sends a
    service that was withdrawn or changed since, and the written ones where they state what none of
    their sources does.

    Raises:
        ReviewItem.DoesNotExist: for an item that the actor may not see.
        Conflict: somebody else was faster, or has the item.
        Refused: it may not be decided like this.
    """
    now = now or timezone.now()
    item = locking.find(item_id, actor, lock=True)
    locking.require_unchanged(item, actor, version, now)
    if action is Action.UNDO:
        raise Refused(gettext("Undo a decision where it is shown."))
    problem = permitted.why_not(item, actor, action, now)
    if problem:
        raise Refused(problem)
    signing.require_confirmed(item, action, payload)
    reason = locking.checked_reason(reason)
    if action in permitted.OPINIONS:
        return _opinion(item, actor, action, reason, now)
    prepared = actions.prepare(item, action, payload)
    reply, _ = actions.outcome(item, actor, prepared)
    changes = outdated.changes_since(item.turn, reply)
    if changes is not None and payload.get(signing.FIELD) is not True:
        message = gettext("{changes} Look at what happens with it, then confirm it.")
        raise Outdated(message.format(changes=changes))
    ungrounded = actions.ungrounded(item, prepared, reply)
    if ungrounded and payload.get(signing.FIELD) is not True:
        message = gettext("Your words state what none of the sources does. Look, then confirm it.")
        raise Unsourced(message, ungrounded)
    live_release = changes.live if changes else None
    replaced = permitted.opinion_wanted(item)
    decision = _record(
        item, prepared, actor, reason, now, about=replaced, live_release=live_release
    )
    if action is Action.HAND_OVER:
        locking.advance(item, state=signing.waiting_state(item), agency=prepared.agency, **NO_CLAIM)
        scope.refresh_agencies(item.turn_id)
        return decision
    signing.withdraw_signatures(item, actor)  # They were given for another text.
    if prepared.sends_reply:
        signing.add_signatures(item, agencies_of(actor), actor, reason)
        _proceed(item, lambda: prepared, actor, now, delay)
    else:
        _take_effect(item, prepared, actor, now, delay)
    return decision


def _proceed(
    item: ReviewItem,
    prepare: Callable[[], Prepared],
    actor: User,
    now: datetime,
    delay: timedelta = timedelta(),
) -> None:
    """Let a signed decision take effect, or wait for the other signatures in their queues."""
    if signing.missing_signatures(item):
        locking.advance(item, state=ReviewState.SECOND_OPINION, **NO_CLAIM)
        scope.refresh_agencies(item.turn_id)
    else:
        _take_effect(item, prepare(), actor, now, delay)


def _take_effect(
    item: ReviewItem, prepared: Prepared, actor: User, now: datetime, delay: timedelta
) -> None:
    """Carry a decision out, at once or after a delay, or keep it for a second opinion where the
    item needs one."""
    if permitted.needs_opinion(item, prepared.action):
        waiting = {"needs_second": True, "takes_effect_at": None}
        locking.advance(item, state=ReviewState.SECOND_OPINION, **waiting, **NO_CLAIM)
    elif delay:
        at = now + delay
        locking.advance(item, state=ReviewState.SENDING, takes_effect_at=at, **NO_CLAIM)
        queue_after_commit(TAKE_EFFECT, str(item.pk), countdown=delay.total_seconds())
    else:
        _carry_out(item, prepared, actor, now)


@transaction.atomic
def take_effect(*, item_id: UUID, now: datetime | None = None) -> None:
    """Let a decision take effect whose delay is over; nothing where it was undone meanwhile.

    Where the message has shown danger meanwhile it waits for a second person. Where it cannot take
    effect any more, it is undone, with the reason in the record, and the item is open.
    """
    now = now or timezone.now()
    item = ReviewItem.objects.filter(pk=item_id).first() and locking.locked(item_id)
    if item is None or item.state != ReviewState.SENDING.value or not _is_due(item, now):
        return
    proposal = signing.proposal_of(item)
    if proposal is None:
        raise RuntimeError(f"item {item_id} is sending, and has no decision")
    proposal.item = item
    try:
        with transaction.atomic():
            author = User.objects.get(pk=proposal.actor_id)
            locking.still_acting(author, proposal.artifacts.get("token", ""))
            _take_effect(item, actions.prepare_agreed(proposal), proposal.actor, now, timedelta())
    except (Refused, Conflict) as problem:
        item.refresh_from_db()
        undoing = Prepared(Action.UNDO, proposal.artifacts.get("stage", ""))
        _record(item, undoing, proposal.actor, str(problem), now, about=proposal)
        _take_back(item, proposal, proposal.actor, failed=True)


def sweep(*, now: datetime) -> None:
    """Let the decisions take effect whose delay is over and whose task the broker forgot."""
    late = ReviewItem.objects.filter(state=ReviewState.SENDING, takes_effect_at__lte=now)
    for pk in list(late.values_list("pk", flat=True)):
        try:
            take_effect(item_id=pk, now=now)
        except Exception:  # an error of ours: the others have to be sent
            logger.exception("the decision on item %s could not take effect", pk)


def _is_due(item: ReviewItem, now: datetime) -> bool:
    return item.takes_effect_at is None or item.takes_effect_at <= now


def _opinion(item: ReviewItem, actor: User, action: Action, reason: str, now: datetime) -> Decision:
    proposal = signing.proposal_of(item)
    if proposal is None:
        raise Conflict(gettext("The decision was undone meanwhile. Look at the item again."))
    proposal.item = item
    agreed = action is Action.AGREE
    prepared = actions.prepare_agreed(proposal) if agreed else None
    opinion = Prepared(action, proposal.artifacts.get("stage", ""))
    decision = _record(item, opinion, actor, reason, now, about=proposal)
    if prepared is not None:
        # What the citizen gets is the author's, whoever agreed to it.
        _carry_out(item, prepared, proposal.actor, now)
    else:
        signing.withdraw_signatures(item, actor)
        _send_back(item, proposal, actor)
    return decision


def _send_back(item: ReviewItem, proposal: Decision, actor: User) -> None:
    """Let the author of a decision have the item again, where they still may; it is open else."""
    author = proposal.actor
    is_there = author.is_active and author.has_perm(locking.DECIDE) and scope.sees(author, item)
    if not is_there or "token" in proposal.artifacts:  # a program does not look at its items
        locking.advance(item, state=ReviewState.OPEN, **NO_CLAIM)
        return
    claim = {"claimed_by": author, "claimed_until": locking.claim_end()}
    locking.advance(item, state=ReviewState.CLAIMED, **claim)
    payload: dict[str, Any] = {
        "item": str(item.pk),
        "turn": str(item.turn_id),
        "version": item.version,
        "to": author.get_username(),
    }
    chain = item.turn.session_id
    audit.record(chain=chain, kind=locking.ASSIGNED, actor=actor.actor, payload=payload)
    forget(READ, [item.pk], author)  # that they open it again is to be seen


def _carry_out(item: ReviewItem, prepared: Prepared, actor: User, now: datetime) -> None:
    actions.carry_out(item, prepared, actor)
    locking.advance(item, state=ReviewState.DECIDED, decided_at=now, **NO_CLAIM)


@transaction.atomic
def sign(*, item_id: UUID, actor: User, version: int, agency: str, reason: str) -> SignOff:
    """Sign an agency's part of a decision that waits for it; the last signature lets it happen.

    No claim is needed: the words are another's and stay as they are. Raises like :func:`decide`.
    """
    now = timezone.now()
    item = locking.find(item_id, actor, lock=True)
    locking.require_unchanged(item, actor, version, now)
    reason = locking.checked_reason(reason)
    _require_signable(item, actor, agency)
    proposal = signing.proposal_of(item)
    if proposal is None or not signing.waits_for_signatures(item, proposal):
        raise Refused(gettext("There is nothing to sign: somebody has to decide the item first."))
    if why := permitted.too_new(actor, proposal.actor, now):
        raise Refused(why)
    signature = SignOff.objects.create(item=item, agency=agency, by_id=actor.pk, reason=reason)
    audit.record(
        chain=item.turn.session_id,
        kind="review.signed",
        actor=actor.actor,
        payload={
            "item": str(item.pk),
            "decision": str(proposal.pk),
            "agency": agency,
        },
        rows=[SIGN_OFF.row(signature)],
    )
    proposal.item = item
    _proceed(item, lambda: actions.prepare_agreed(proposal), proposal.actor, now)
    return signature


def _require_signable(item: ReviewItem, actor: User, agency: str) -> None:
    scope = agencies_of(actor)
    if not actor.has_perm(locking.DECIDE) or (scope is not None and agency not in scope):
        raise Refused(gettext("You may sign only for your own agency."))
    if agency not in signing.signing_agencies(item):
        raise Refused(gettext("This agency has no part in this reply."))
    if agency not in signing.missing_signatures(item):
        raise Refused(gettext("This agency has signed already."))


@transaction.atomic
def undo(*, decision_id: UUID, actor: User, reason: str) -> Decision:
    """Undo a proposal, a handing over, or a dismissal that told the citizen nothing.

    For its author, or a supervisor. A dismissed item stays decided; a new one is opened for the
    same stage.

    Raises:
        Decision.DoesNotExist: for a decision on an item that the actor may not see.
        Conflict: the question moved on meanwhile.
        Refused: it cannot be undone, or not by the actor.
    """
    now = timezone.now()
    item_id = Decision.objects.values_list("item_id", flat=True).get(pk=decision_id)
    locked = locking.locked(item_id)
    decision = Decision.objects.get(pk=decision_id)
    decision.item = locked
    # Its author may have handed the item out of their own sight.
    if decision.actor_id != actor.pk and not scope.sees(actor, locked):
        raise Decision.DoesNotExist(f"no decision {decision_id} in the scope of {actor}")
    if decision not in permitted.undoable(locked):
        raise Refused(gettext("This decision has been answered or undone already."))
    problem = permitted.undo_problem(decision, actor, now)
    if problem:
        raise Refused(problem)
    undoing = Prepared(Action.UNDO, decision.artifacts.get("stage", ""))
    reason = locking.checked_reason(reason)
    record = _record(locked, undoing, actor, reason, now, about=decision)
    if locked.state == ReviewState.DECIDED.value:
        _reopen(locked, actor)
    else:
        _take_back(locked, decision, actor)
    return record


def _take_back(item: ReviewItem, decision: Decision, actor: User, *, failed: bool = False) -> None:
    """Let a decision not take effect; its author has the item again where they were in time."""
    if decision.action != Action.HAND_OVER.value or decision.output is None:
        signing.withdraw_signatures(item, actor)
        state, claim = ReviewState.OPEN, NO_CLAIM
        if item.state == ReviewState.SENDING.value and decision.actor_id == actor.pk and not failed:
            state = ReviewState.CLAIMED
            claim = {"claimed_by": actor, "claimed_until": locking.claim_end()}
        locking.advance(item, state=state, takes_effect_at=None, **claim)
        return
    before = scope.agency_set(decision.output.get("agencies", ()))
    back = {"agency": decision.output["from"], "agencies": before}
    locking.advance(item, state=signing.waiting_state(item), **back, **NO_CLAIM)
    scope.refresh_agencies(item.turn_id)


def _reopen(item: ReviewItem, actor: User) -> None:
    if not was_closed(item):
        moves.open_review(turn=item.turn, stage=item.stage, codes=item.reasons)
        return
    with actions.conflict_if_moved():
        resuming.reopen(turn=item.turn, stage=item.stage, codes=item.reasons, by=actor.actor)


CLAIM_EVENTS = ("review.claimed", "review.taken_over", locking.ASSIGNED)
"""The audit events by which somebody gets an item; their payload names it as ``item``."""


def _record(
    item: ReviewItem,
    prepared: Prepared,
    actor: User,
    reason: str,
    now: datetime,
    *,
    about: Decision | None = None,
    live_release: int | None = None,
) -> Decision:
    """Store a record of a decision with its audit event, inside the caller's transaction.

    ``live_release`` is the release whose changes the actor has confirmed, None for none. The event
    has digests and codes, never a word of the citizen's or of the reason.
    """
    artifacts = _artifacts(item, prepared.contract)
    if actor.limits is not None:
        artifacts["token"] = actor.limits.prefix
    if live_release is not None:
        artifacts["live_release"] = live_release
    decision = Decision.objects.create(
        item=item,
        actor_id=actor.pk,
        action=prepared.action.value,
        reason=reason,
        patch=_patch(prepared),
        output=prepared.output,
        artifacts=artifacts,
        evidence=list(prepared.evidence),
        seconds=_seconds(item, now),
        about=about,
    )
    audit.record(
        chain=item.turn.session_id,
        kind="review.decided",
        actor=actor.actor,
        payload={
            "item": str(item.pk),
            "turn": str(item.turn_id),
            "stage": item.stage,
            "decision": str(decision.pk),
            "action": prepared.action.value,
            "about": None if about is None else str(about.pk),
            "artifacts": decision.artifacts,
        },
        rows=[DECISION.row(decision)],
    )
    return decision


def _patch(prepared: Prepared) -> list[dict[str, Any]] | None:
    """Return the RFC 6902 patch from the model's answer to the new one; None without one."""
    if prepared.original is None or prepared.output is None:
        return None
    patch = jsonpatch.JsonPatch.from_diff(prepared.original, prepared.output, dumps=dumps)
    return [dict(operation) for operation in patch.patch]


def _artifacts(item: ReviewItem, contract: str) -> dict[str, str | int]:
    stage = item.turn.stages.filter(contract=contract).first()
    attempt = answers.last_attempt(stage)
    artifacts: dict[str, str | int] = {"stage": contract} if contract else {}
    if attempt is not None:
        artifacts |= {
            "attempt": f"{attempt.round}.{attempt.number}",
            "contract_sha256": attempt.contract_sha256,
            "prompt_sha256": attempt.prompt_sha256,
        }
    return artifacts


def _seconds(item: ReviewItem, now: datetime) -> int:
    """Return the seconds since the item was last claimed, as the audit record has it."""
    claims = AuditEvent.objects.filter(
        chain=item.turn.session_id, kind__in=CLAIM_EVENTS, payload__contains=str(item.pk)
    )
    at = claims.order_by("-seq").values_list("at", flat=True).first()
    return 0 if at is None else max(0, round((now - at).total_seconds()))

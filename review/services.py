"""Writes: opening review items, and erasing them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from conversations import ports
from conversations.models import Outage, Turn
from conversations.turns import resuming, triage
from conversations.turns.resuming import NotWaiting
from ieim.audit import services as audit
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import ANSWERING, AWAITED, REPLY
from ieim.studio.gaps import collecting as gaps
from ieim.studio.trying import services as golden
from review import facets, scope
from review.audited import ITEM
from review.batches import alike
from review.deciding import Conflict, answers, locking, outdated, signing
from review.evaluation_cases import case_id
from review.facets import Facets
from review.models import REFUSED, Decision, ItemFlag, Priority, ReviewItem, SearchText
from review.queue import fulltext
from review.queue.filters import is_away
from review.states import UNDECIDED, ReviewState

_DANGER = {Code.POLICY_RISK.value: 0, Code.CITIZEN_DANGER.value: 1, Code.READER_HARMFUL.value: 2}
"""The reasons that tell of danger, the surest first."""


@transaction.atomic
def open_item(*, turn_id: UUID, stage: str, codes: Sequence[str]) -> ReviewItem:
    """Open an item for a stage (a contract's id, or ``reply``) of a turn, with its audit event.

    Runs inside the caller's transaction, with the result that made it necessary. While an item for
    the same stage of the turn is undecided, that one is returned, with what became known since:
    triage may end after it was opened, and the caller calls again. Such a refresh is no change that
    somebody who has claimed the item must have seen, so its version stays. The rest of the turn's
    triage is requested. An item of a weak sign alone ends: this one says the same, and that the
    citizen waits. Raises ``Turn.DoesNotExist``.
    """
    turn = Turn.objects.get(pk=turn_id)
    facts = facets.of_turn(turn)
    before = _give_way(turn) if stage in AWAITED - {REPLY} else None
    undecided = ReviewItem.objects.filter(state__in=[state.value for state in UNDECIDED])
    item, opened = undecided.get_or_create(
        turn_id=turn_id,
        stage=stage,
        defaults={"parent": _parent_of(turn_id), "due_at": timezone.now()},
    )
    if opened and before is not None:
        _succeed(item, before)
    _refresh(item, turn, facts, codes)
    triage.request(turn_ids=[turn_id])
    if opened:
        item.alike = alike.key_of(turn, stage=stage, reason=item.reason)
        if not item.agency:
            item.likely_agency = facets.likely_agency(turn)
        item.save(update_fields=["alike", "likely_agency"])
        SearchText.objects.create(item=item, words=fulltext.searched(turn.text))
        audit.record(
            chain=turn.session_id,
            kind="review.opened",
            actor="system",
            payload={
                "item": str(item.pk),
                "turn": str(turn_id),
                "stage": stage,
                "codes": item.reasons,
                "priority": item.priority,
            },
            rows=[ITEM.row(item)],
        )
    return item


@transaction.atomic
def refresh(*, turn_id: UUID, codes: Sequence[str]) -> None:
    """Update a turn's undecided items with the results of triage after they were opened.

    ``codes`` are reasons of what is awaited. Versions stay, as in :func:`open_item`.
    """
    turn = Turn.objects.get(pk=turn_id)
    facts = facets.of_turn(turn)
    for item in _undecided_items(turn_id):
        _refresh(item, turn, facts, codes if item.stage in AWAITED else ())


def refresh_before_reply(*, turn_id: UUID, by_person: bool) -> Sequence[str]:
    """Bring a turn's items up to date before its reply leaves; returns the codes that hold it.

    Inside the caller's transaction. Triage may have opened an item before an agency was found.
    ``by_person`` says that a person had a hand in the reply: only then does anybody have to sign
    it, or to confirm what has changed of its services since.
    """
    scope.refresh_agencies(turn_id)
    if not by_person:
        return []
    reasons = {
        Code.POLICY_UNSIGNED: signing.unsigned(turn_id),
        Code.POLICY_OUTDATED: _unconfirmed(turn_id),
    }
    return [code.value for code, holds in reasons.items() if holds]


def _unconfirmed(turn_id: UUID) -> bool:
    """Whether a reply stands on a service that has changed since the last decision on its turn, or
    that nobody confirmed."""
    turn = Turn.objects.get(pk=turn_id)
    changes = outdated.changes_since(turn, answers.follow(turn).reply)
    decisions = Decision.objects.filter(item__turn=turn_id, action__in=signing.PROPOSALS)
    last = decisions.order_by("created_at", "id").last()
    confirmed = last.artifacts.get("live_release") if last is not None else None
    return changes is not None and confirmed != changes.live


def count_items(*, session_id: UUID) -> int:
    """Return how many items a session has, decided or not."""
    return ReviewItem.objects.filter(turn__session_id=session_id).count()


def decisions(*, session_id: UUID) -> Sequence[ports.Decision]:
    """Return the decisions in a session, without their authors."""
    columns = ("item__turn", "item__stage", "action", "created_at")
    rows = Decision.objects.filter(item__turn__session=session_id).values_list(*columns)
    return [ports.Decision(*row) for row in rows]


def decided_sessions() -> QuerySet[Any]:
    """Return the ids of the sessions in which a person decided something, as a query."""
    return Decision.objects.values("item__turn__session_id")


def decided_turns() -> QuerySet[Any]:
    """Return the ids of the turns about which a person decided and of which nothing is undecided,
    as a query."""
    undecided = ReviewItem.objects.filter(state__in=[state.value for state in UNDECIDED])
    decided = Decision.objects.exclude(item__turn__in=undecided.values("turn"))
    return decided.values("item__turn")


@transaction.atomic
def erase_items(*, session_id: UUID) -> None:
    """Delete the items of a session that is being erased, decided or not.

    Runs inside the caller's transaction, which has written the audit event. The records of
    decisions go along, and the golden questions that were made of them and the gaps, because they
    hold the citizen's words; the audit record says what was decided, in codes.
    """
    items = ReviewItem.objects.filter(turn__session_id=session_id)
    turns = Turn.objects.filter(session_id=session_id).values_list("pk", flat=True)
    golden.forget(
        [*map(case_id, items.values_list("pk", flat=True)), *map(golden.name_for_turn, turns)]
    )
    gaps.forget(session_id=session_id)
    items.delete()


@transaction.atomic
def withdraw(*, turn_id: UUID) -> None:
    """End the undecided items of a turn that its citizen does not want answered any more.

    Runs inside the caller's transaction, which holds the turn's row and has written its event. Who
    has such an item finds it changed.
    """
    for item in _undecided_items(turn_id):
        _close_undecided_item(item)


def retry_after_outage() -> None:
    """Ask the model again for the open items that are there only because of an outage, once it has
    ended; each once. What shows danger, and what somebody works on or has put away, stays with a
    person."""
    waiting = ReviewItem.objects.filter(
        state=ReviewState.OPEN, reason=Code.MODEL_UNAVAILABLE, stage=REPLY, rank__gt=REFUSED
    )
    waiting = waiting.filter(~is_away(timezone.now()))
    waiting = waiting.exclude(parent__reason=Code.MODEL_UNAVAILABLE)
    if Outage.objects.filter(ended_at=None).exists():
        return
    for pk in list(waiting.values_list("pk", flat=True)):
        with suppress(Conflict, NotWaiting, ReviewItem.DoesNotExist), transaction.atomic():
            _retry(locking.locked(pk))


def _retry(item: ReviewItem) -> None:
    if item.state != ReviewState.OPEN or item.reasons != [Code.MODEL_UNAVAILABLE]:
        return
    _close_undecided_item(item)
    audit.record(
        chain=item.turn.session_id,
        kind="review.retried",
        actor="system",
        payload={"item": str(item.pk), "turn": str(item.turn_id)},
    )
    if (newer := outdated.askable_release(item.turn)) is not None:
        resuming.renew_release(turn=item.turn, release_number=newer)
    resuming.resume(turn=item.turn)


def _give_way(turn: Turn) -> ReviewItem | None:
    """End the item of a turn's weak sign, for which nothing waited: one for which the citizen waits
    takes its place. Return it as it was, None for none."""
    for item in _undecided_items(turn.pk):
        if item.stage == REPLY and Code.CITIZEN_DANGER in item.reasons:
            before = copy(item)
            _close_undecided_item(item)
            audit.record(
                chain=turn.session_id,
                kind="review.replaced",
                actor="system",
                payload={"item": str(item.pk), "turn": str(turn.pk)},
            )
            return before
    return None


def _succeed(item: ReviewItem, before: ReviewItem) -> None:
    """Let an item have waited for as long as the one whose place it takes, and be with whom that
    was."""
    item.opened_at = before.opened_at
    if before.holder(timezone.now()) is not None:
        item.state = before.state
        item.claimed_by, item.claimed_until = before.claimed_by, before.claimed_until
    item.save(update_fields=["opened_at", "state", "claimed_by", "claimed_until"])


def _undecided_items(turn_id: UUID) -> list[ReviewItem]:
    items = ReviewItem.objects.filter(turn=turn_id, state__in=[s.value for s in UNDECIDED])
    return list(items.order_by("pk"))


def _close_undecided_item(item: ReviewItem) -> None:
    locking.advance(item, state=ReviewState.DECIDED, decided_at=timezone.now(), **locking.NO_CLAIM)


def _refresh(item: ReviewItem, turn: Turn, facts: Facets, codes: Sequence[str]) -> None:
    """Write the present facets and reasons; a reason that was given once stays."""
    # Danger comes first: it is what the person who picks an item has to know.
    unique = dict.fromkeys([*item.reasons, *codes])
    reasons = sorted(unique, key=lambda code: _DANGER.get(code, len(_DANGER)))
    priority = _priority(item.stage, reasons)
    item.turn, item.rank = turn, facets.rank(turn, facts, stage=item.stage, reasons=reasons)
    scope.refresh_agencies(turn.pk)
    item.refresh_from_db(fields=["agency", "agencies"])
    values = {
        "reasons": reasons,
        "reason": reasons[0] if reasons else "",
        "priority": priority,
        "urgency": facts.urgency,
        "rank": item.rank,
        "language": turn.language,
        "needs_second": signing.needs_second(item),
        "due_at": facets.due_at(turn, facts, priority=priority, opened_at=item.opened_at),
    }
    ReviewItem.objects.filter(pk=item.pk).update(**values)
    for name, value in values.items():
        setattr(item, name, value)
    ItemFlag.objects.bulk_create(
        [ItemFlag(item=item, code=code) for code in facts.flags], ignore_conflicts=True
    )


def _priority(stage: str, codes: Sequence[str]) -> Priority:
    if not _DANGER.keys().isdisjoint(codes):
        return Priority.HIGH
    if stage not in AWAITED or (stage == REPLY and set(codes) == {Code.REPLY_EMPTY}):
        return Priority.LOW  # nobody waits: triage, or a reply that is out without a model's text
    return Priority.NORMAL


def _parent_of(turn_id: UUID) -> ReviewItem | None:
    """Return the last decided item of a turn, after which the pipeline went on; None for none."""
    decided = ReviewItem.objects.filter(
        turn_id=turn_id, state=ReviewState.DECIDED.value, stage__in=[*ANSWERING, REPLY]
    )
    return decided.order_by("-decided_at").first()

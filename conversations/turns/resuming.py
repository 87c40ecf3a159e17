"""What somebody's decision does to a turn: its stages, its state, its reply.

What may be decided is judged in ``review.deciding``. Each write is inside the caller's transaction,
and each move is a compare-and-set: a turn that no longer waits for a person is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from conversations import states
from conversations.citations import cite
from conversations.models import EvidenceSpan, Reply, ReplyOrigin, Stage, Turn
from conversations.record.audited import REPLY, SIGNS, SPAN, STAGE, cited
from conversations.states import StageStatus, TurnState
from conversations.turns import events, flags, languages, moves
from conversations.webhooks import outbox
from conversations.webhooks.models import Event
from ieim.knowledge.notices import selectors as notices
from ieim.pipeline.gate.gate import EvidenceDict
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply import guidance, situation
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.topology import ANSWERING
from ieim.pipeline.work import Output
from ieim.search import matching_spans


class NotWaiting(Exception):
    """The turn does not wait for a person any more; nothing was changed."""


@transaction.atomic
def put_answer(
    *,
    stage: Stage,
    status: StageStatus,
    output: Output,
    state_merge: Output,
    evidence: Sequence[EvidenceDict] = (),
    result: Mapping[str, Any] | None = None,
) -> None:
    """Put a person's answer in a stage's place: ``status`` is ``approved`` or ``overridden``.

    ``evidence`` replaces the stage's spans, ``result`` what triage was made into. Whatever stages
    of the flow had run after it are void: they were asked on other grounds, and are asked again.
    """
    states.require_stage(StageStatus(stage.status), status)
    stage.status = status.value
    stage.output, stage.state_merge = dict(output), dict(state_merge)
    stage.result = None if result is None else dict(result)
    stage.findings = []
    stage.finished_at = timezone.now()
    stage.save()
    withdraw_spans([stage])
    spans = EvidenceSpan.objects.bulk_create(
        EvidenceSpan(stage=stage, **fields) for fields in evidence
    )
    voided = void(stage.turn, after=stage.order) if stage.contract in ANSWERING else []
    payload = {
        "stage": stage.contract,
        "status": status.value,
        "void": [later.contract for later in voided],
    }
    rows = [STAGE.row(stage), *map(SPAN.row, spans), *map(STAGE.row, voided)]
    events.record(stage.turn, "stage.replaced", payload, rows=rows)
    if stage.contract == "classify" and result is not None:
        flags.add(turn=stage.turn, classified=result)
    moves.notify_pages(stage.turn)


def void(turn: Turn, *, after: int, but: Collection[str] = ()) -> list[Stage]:
    """Make later stages of the flow as if they had not run; their attempts stay as they are.

    Not those of the contracts ``but``, which the caller gives another answer. Returns them; that
    they are void is for the caller to record.
    """
    later = turn.stages.filter(contract__in=ANSWERING, order__gt=after).exclude(contract__in=but)
    ran = list(later.exclude(status=StageStatus.PENDING.value).values_list("pk", flat=True))
    stages = Stage.objects.filter(pk__in=ran)
    withdraw_spans(stages)
    stages.update(status=StageStatus.PENDING.value, **_fresh_round(), started_at=None)
    return list(stages.order_by("order"))


def withdraw_spans(stages: Iterable[Stage]) -> None:
    """Let the spans of stages stand no longer; they stay in the record."""
    EvidenceSpan.objects.filter(stage__in=stages).update(stands=False)


@transaction.atomic
def ask_again(*, stage: Stage) -> None:
    """Open a new round of a stage that failed closed: the model has two attempts again."""
    states.require_stage(StageStatus(stage.status), StageStatus.RUNNING)
    withdraw_spans([stage])
    Stage.objects.filter(pk=stage.pk).update(
        status=StageStatus.RUNNING.value, **_fresh_round(), started_at=timezone.now()
    )
    stage.refresh_from_db()
    again = {"stage": stage.contract, "round": stage.round}
    events.record(stage.turn, "stage.asked_again", again, rows=[STAGE.row(stage)])


@transaction.atomic
def renew_release(*, turn: Turn, release_number: int) -> None:
    """Let a turn be asked again from its first step, with a newer release.

    What a model said of the earlier one stays in the record, and counts no more.
    """
    before, now = turn.release_number, timezone.now()
    turn.first_release = turn.first_release or before
    turn.release_number, turn.renewed_at, turn.release = release_number, now, None
    turn.save(update_fields=["first_release", "release_number", "renewed_at", "updated_at"])
    voided = void(turn, after=-1)
    payload = {
        "from": before,
        "release": release_number,
        "void": [stage.contract for stage in voided],
    }
    rows = [SIGNS.row(turn), *map(STAGE.row, voided)]
    events.record(turn, "turn.release_renewed", payload, rows=rows)


def _fresh_round() -> dict[str, Any]:
    return {
        "round": F("round") + 1,
        "output": None,
        "state_merge": None,
        "result": None,
        "findings": [],
        "finished_at": None,
    }


@transaction.atomic
def resume(
    *, turn: Turn, hold_waived: bool = False, since: TurnState = TurnState.NEEDS_REVIEW
) -> None:
    """Set a turn going again after a decision; a worker takes it once all is committed.

    It is left as a turn whose worker has gone, so that the sweeper takes it where the broker
    forgets. ``resumed`` lets the session's next question not wait for it. ``hold_waived`` lets the
    held reply go out: that one, not another that a later decision leads to. Raises
    :class:`NotWaiting`.
    """
    now = timezone.now()
    _move(
        turn,
        since,
        TurnState.RUNNING,
        lease=None,
        leased_until=now,
        queued_at=now,
        unavailable_since=None,
        runs=0,
        resumed=True,
        hold_waived=hold_waived,
    )
    moves.queue(turn.pk)


@transaction.atomic
def answered_below(*, turn: Turn) -> None:
    """Close a turn whose citizen was asked and has answered in the next message, which gets the
    reply. Raises :class:`NotWaiting`."""
    _move(turn, TurnState.ASKING, TurnState.CLOSED)


@transaction.atomic
def stop_asking(*, turn: Turn) -> None:
    """Let a turn whose citizen was asked wait for a person. Raises :class:`NotWaiting`."""
    _move(turn, TurnState.ASKING, TurnState.NEEDS_REVIEW)


@transaction.atomic
def answer(*, turn: Turn, reply: replies.Reply, by: str) -> Reply:
    """Answer a turn that waits for a person in that person's own words (``by``: the audit's actor).

    Raises :class:`NotWaiting`.
    """
    # What a worker does in two steps is one here: nothing runs in between.
    states.require_turn(TurnState.NEEDS_REVIEW, TurnState.RUNNING)
    states.require_turn(TurnState.RUNNING, TurnState.ANSWERED)
    _set(turn, TurnState.NEEDS_REVIEW, TurnState.ANSWERED)
    return store_reply(turn=turn, reply=reply, origin=ReplyOrigin.STAFF, by=by)


@transaction.atomic
def close(*, turn: Turn, reply: replies.Reply | None, by: str, reason: str = "dismissed") -> None:
    """Close a turn that waits for a person, with some words for the citizen or without.

    Raises :class:`NotWaiting`.
    """
    _move(turn, TurnState.NEEDS_REVIEW, TurnState.CLOSED)
    payload = {"reason": reason, "told": reply is not None}
    events.record(turn, "turn.closed", payload, actor=by)
    if reply is not None:
        store_reply(turn=turn, reply=reply, origin=ReplyOrigin.STAFF, by=by)
        outbox.notify(turn, Event.ANSWERED)  # closed, but with something to read


@transaction.atomic
def reopen(*, turn: Turn, stage: str, codes: Sequence[str], by: str) -> None:
    """Undo a dismissal that told the citizen nothing: the turn waits for a person again.

    ``stage`` and ``codes`` are those of its new review item. Raises :class:`NotWaiting`.
    """
    if Reply.objects.filter(turn=turn).exists():
        raise NotWaiting("the citizen has been told that the question is closed")
    _move(turn, TurnState.CLOSED, TurnState.NEEDS_REVIEW)
    moves.open_review(turn=turn, stage=stage, codes=codes)
    events.record(turn, "turn.reopened", {"stage": stage}, actor=by)


def origin_of(turn: Turn, stages: Iterable[Stage]) -> ReplyOrigin:
    """Return whose the pipeline's reply to a turn is: a person may have had a hand in it."""
    statuses = {stage.status for stage in stages if stage.contract in ANSWERING}
    if StageStatus.OVERRIDDEN.value in statuses:
        return ReplyOrigin.STAFF_OVERRIDE
    if turn.hold_waived or StageStatus.APPROVED.value in statuses:
        return ReplyOrigin.MODEL_APPROVED
    if StageStatus.CHOSEN.value in statuses:
        # "What comes next?" leaves nothing to choose.
        has_chosen = len(turn.choice.offered) > 1
        return ReplyOrigin.CITIZEN_CHOICE if has_chosen else ReplyOrigin.INDEX
    return ReplyOrigin.MODEL


def origin_of_words(reply: replies.Reply, release: Callable[[], Release]) -> ReplyOrigin:
    """Return whose the words of a reply are that nobody has had a hand in; ``release`` gets the one
    that it was made from."""
    if reply.kind == "guidance":
        prepared = guidance.is_prepared(reply, release())
        return ReplyOrigin.GUIDANCE if prepared else ReplyOrigin.MODEL
    return ReplyOrigin.MODEL if reply.paragraphs else ReplyOrigin.INDEX


def store_reply(
    *, turn: Turn, reply: replies.Reply, origin: ReplyOrigin, by: str = "system", model: str = ""
) -> Reply:
    """Store the one reply of a turn with its citations and its audit event, inside the caller's
    transaction.

    The notices that apply now are stored with it: it is what the citizen was shown.
    """
    reply = replace(reply, notices=notices.of_reply(reply.sources, timezone.now()))
    body, release = reply.as_dict(), languages.written_release(turn)
    stored = Reply.objects.create(
        turn=turn,
        origin=origin.value,
        body=body,
        marked=marked(turn.text, reply, release.in_language(turn.language)),
        model=model,
    )
    citations = cite(reply=stored, sources=situation.shown(reply), release=release)
    payload = {
        "origin": stored.origin,
        "kind": reply.kind,
        "unsaid": reply.unsaid,
        "release": turn.release_number,
        "sources": [s.reference for s in reply.sources],
    }
    row = REPLY.row(stored, citations=cited(citations))
    events.record(turn, "turn.answered", payload, actor=by, rows=[row])
    if (checklist := reply.situation) is not None:
        listed = {
            "situation": checklist.key,
            "open": checklist.is_open,
            "leads": checklist.leads,
            "services": [line.source.reference for line in checklist.lines],
        }
        events.record(turn, "turn.situation", listed, actor=by)
    return stored


def marked(text: str, reply: replies.Reply, release: Release) -> list[list[int]]:
    """Return the spans of the citizen's own words that the sources' index entries share."""
    passages = []
    for source in reply.sources:
        service = release.services[(source.agency_id, source.service_key)]
        passages += [service.name, service.overview]
        entries = (release.categories.get((service.agency, key)) for key in service.categories)
        for entry in filter(None, entries):
            passages += [entry.value, *entry.keywords]
    spans = matching_spans(text, " ".join(passages), release.language)
    return [[start, end] for start, end in spans]


def _move(turn: Turn, old: TurnState, new: TurnState, **values: Any) -> None:
    states.require_turn(old, new)
    _set(turn, old, new, **values)


def _set(turn: Turn, old: TurnState, new: TurnState, **values: Any) -> None:
    changes = {"state": new.value, "updated_at": timezone.now(), **values}
    if not Turn.objects.filter(pk=turn.pk, state=old.value).update(**changes):
        raise NotWaiting(f"turn {turn.pk} is not {old.value}")
    for name, value in changes.items():
        setattr(turn, name, value)
    outbox.notify(turn)
    moves.notify_pages(turn)

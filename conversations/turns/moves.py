"""State moves of a turn that a worker runs, and what goes with them: queueing, hints, reviews."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations import notify, ports, states
from conversations.models import Turn
from conversations.outages import services as outages
from conversations.queueing import queue_after_commit
from conversations.states import TurnState
from conversations.turns import events, flags
from conversations.turns.leases import LeaseLost
from conversations.webhooks import outbox
from ieim.pipeline.findings import Code
from ieim.pipeline.ports import ModelUnavailable
from ieim.pipeline.topology import AWAITED, REPLY

QUEUE = "turns"
RUN_TURN = "conversations.tasks.run_turn"

RETRY_MODEL = timedelta(seconds=20)
GIVE_UP_ON_MODEL = timedelta(minutes=30)
MAX_RUNS = 5
"""Runs of one turn that may end in an error of ours before a person gets it."""


def queue(turn_id: UUID) -> None:
    """Queue the turn's task after the commit; a broker that fails leaves it to the sweeper."""
    # By name: the tasks import this module.
    queue_after_commit(RUN_TURN, str(turn_id), queue=QUEUE)


def move_turn(turn: Turn, new: TurnState, **fields: object) -> None:
    """Move a turn that this run holds to ``new``, and give the lease back.

    Inside the caller's transaction. Raises :class:`LeaseLost` when the claim is gone.
    """
    states.require_turn(TurnState(turn.state), new)
    values = {"state": new.value, "lease": None, "leased_until": None, **fields}
    mine = Turn.objects.filter(pk=turn.pk, lease=turn.lease, state=turn.state)
    if not mine.update(updated_at=timezone.now(), **values):
        raise LeaseLost(str(turn.pk))
    for name, value in values.items():
        setattr(turn, name, value)
    outbox.notify(turn)
    notify_pages(turn)


def notify_pages(turn: Turn) -> None:
    """Hint at open pages, once the transaction has been committed."""
    session_id, turn_id = turn.session_id, turn.pk
    transaction.on_commit(lambda: notify.turn_changed(session_id=session_id, turn_id=turn_id))


@transaction.atomic
def await_model(*, turn: Turn, error: ModelUnavailable) -> None:
    """Park a running turn until the model can be reached again: that is an outage.

    After :data:`GIVE_UP_ON_MODEL` a person gets it; at once where it shows danger. A weak sign is
    shown to a person at once, and the turn waits.
    """
    now = timezone.now()
    since = turn.unavailable_since or now
    if now - since >= GIVE_UP_ON_MODEL or flags.shows_danger(turn):
        give_to_person(turn=turn, stage=REPLY, codes=[Code.MODEL_UNAVAILABLE.value])
        outages.note_failure(error)
        return
    wait = max(RETRY_MODEL, timedelta(seconds=min(error.retry_after or 0.0, 300.0)))
    move_turn(turn, TurnState.AWAITING_MODEL, retry_at=now + wait, unavailable_since=since)
    events.record(turn, "turn.awaiting_model", {"reason": str(error)})
    flags.show_weak(turn)
    # Last: until the end of the transaction it keeps other turns that are parked waiting.
    outages.note_failure(error)


@transaction.atomic
def open_review(*, turn: Turn, stage: str, codes: Sequence[str]) -> None:
    """Open the review item of a stage (or ``reply``); nothing more while it has an undecided one.

    A turn whose own words raise a risk carries its code as well, whatever else stopped it; not so
    triage, for which no citizen waits.
    """
    danger = flags.codes(turn) if stage in AWAITED else []
    ports.reviews().open(turn_id=turn.pk, stage=stage, codes=[*codes, *danger])


@transaction.atomic
def give_to_person(*, turn: Turn, stage: str, codes: Sequence[str]) -> None:
    """Move a running turn to ``needs_review``; its review item is opened where it is not yet."""
    move_turn(turn, TurnState.NEEDS_REVIEW)
    record_stop(turn=turn, stage=stage, codes=codes)


def record_stop(*, turn: Turn, stage: str, codes: Sequence[str]) -> None:
    """Open and record the review of a turn in ``needs_review``, inside the caller's transaction."""
    open_review(turn=turn, stage=stage, codes=codes)
    events.record(turn, "turn.needs_review", {"stage": stage, "codes": sorted(set(codes))})


@transaction.atomic
def run_failed(*, turn: Turn) -> None:
    """Take note of a run that ended in an error of ours: queue it again, or give it to a person."""
    if turn.runs + 1 >= MAX_RUNS:
        give_to_person(turn=turn, stage=REPLY, codes=[Code.PIPELINE_ERROR.value])
    else:
        move_turn(turn, TurnState.QUEUED, runs=turn.runs + 1, queued_at=timezone.now())

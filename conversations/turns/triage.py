"""Triage of a turn that a person will read, where no run has made it complete.

What is wanted is a row of the database, :class:`~conversations.turns.models.MissingTriage`: a
worker claims it by compare-and-set, and the sweeper queues it again. It waits while a run has the
turn, which then writes alone.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from conversations import ports
from conversations.models import MissingTriage, Stage, Turn
from conversations.queueing import queue_after_commit
from conversations.states import DONE_STAGE_STATUSES, PENDING_TURN_STATES, StageStatus, TurnState
from conversations.turns import flags, moves
from conversations.turns.leases import LeaseLost
from conversations.turns.store import TurnStore
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import TRIAGE

TASK = "conversations.tasks.run_triage"

SOON = timedelta(seconds=20)
LATEST = timedelta(hours=1)
"""After an outage it is tried again when as long has passed as since it was wanted, within these
bounds."""
GIVE_UP = timedelta(days=1)
SPARE = timedelta(seconds=30)
"""So much longer than the calls may take a claim holds, which nothing renews."""
_CALLS = 3

_ENDED = [status.value for status in (*DONE_STAGE_STATUSES, StageStatus.NEEDS_REVIEW)]
_PENDING = frozenset(state.value for state in PENDING_TURN_STATES)


@transaction.atomic
def request(*, turn_ids: Collection[UUID]) -> None:
    """Have what is missing of the triage of turns run: a person will read them.

    Inside the caller's transaction; idempotent. A turn that is being run gets it from that run, and
    from here only what it leaves out.
    """
    now = timezone.now()
    for turn_id, state in Turn.objects.filter(pk__in=turn_ids).values_list("pk", "state"):
        missing = MissingTriage.objects.filter(turn_id=turn_id)
        if _is_complete(turn_id):
            missing.filter(lease=None).delete()  # whoever has it still has to look for danger
            continue
        _, new = MissingTriage.objects.get_or_create(
            turn_id=turn_id, defaults={"since": now, "due_at": now + SOON}
        )
        if new and state not in _PENDING:
            _queue(turn_id)


def _is_complete(turn_id: UUID) -> bool:
    contracts = [stage.id for stage in TRIAGE]
    ended = Stage.objects.filter(turn=turn_id, contract__in=contracts, status__in=_ENDED)
    return ended.count() == len(contracts)


def _queue(turn_id: UUID) -> None:
    queue_after_commit(TASK, str(turn_id), queue=moves.QUEUE)


def sweep(*, now: datetime, at_start: bool = False) -> None:
    """Queue what is due: of an outage, of a worker that was killed, of a broker that forgot."""
    if at_start:
        MissingTriage.objects.update(lease=None, due_at=now)
    for turn_id in list(MissingTriage.objects.filter(due_at__lte=now).values_list("pk", flat=True)):
        _queue(turn_id)


@transaction.atomic
def claim(*, turn_id: UUID) -> TriageStore | None:
    """Claim what is missing of a turn's triage; None where another worker has it, a run of the turn
    has, or nothing is wanted."""
    now, lease = timezone.now(), uuid.uuid4()
    turn = Turn.objects.select_for_update().filter(pk=turn_id).first()
    free = MissingTriage.objects.filter(Q(lease=None) | Q(due_at__lte=now), pk=turn_id)
    if turn is None:
        return None
    if turn.state in _PENDING:
        free.update(lease=None, due_at=now + SOON)
        return None
    longest = timedelta(seconds=settings.IEIM_MODEL["DEADLINE"] * _CALLS) + SPARE
    return TriageStore(turn, lease) if free.update(lease=lease, due_at=now + longest) else None


class TriageStore(TurnStore):
    """The store of triage that is run by itself: it writes while its claim holds and no run has the
    turn."""

    def __init__(self, turn: Turn, lease: UUID) -> None:
        super().__init__(turn, count_day=settings.IEIM_MODEL["BUDGET"].get("day") is not None)
        self._wanted = MissingTriage.objects.filter(pk=turn.pk, lease=lease)
        self._signs = len(turn.risks)

    def renew(self) -> None:
        """Hold the turn's row; raise :class:`~conversations.turns.leases.LeaseLost` where the claim
        or the turn is another's."""
        state = Turn.objects.select_for_update().values_list("state", flat=True)
        if state.get(pk=self.turn.pk) in _PENDING or not self._wanted.exists():
            raise LeaseLost(str(self.turn.pk))

    @transaction.atomic
    def complete(self) -> None:
        """Bring the turn's items up to date with what was found, which nobody has to want again."""
        self.renew()
        self._wanted.delete()
        turn = Turn.objects.get(pk=self.turn.pk)
        codes = flags.codes(turn)
        if codes and turn.state != TurnState.NEEDS_REVIEW.value:
            codes = [Code.CITIZEN_DANGER.value]  # no answer waits
            if len(turn.risks) > self._signs:  # nobody has seen them yet
                flags.show(turn_id=turn.pk, codes=codes)
        ports.reviews().refresh(turn_id=turn.pk, codes=codes)
        moves.notify_pages(turn)

    def postpone(self) -> None:
        """Leave it for later, or for good where it was wanted too long ago."""
        now = timezone.now()
        self._wanted.filter(since__lte=now - GIVE_UP).delete()
        for missing in self._wanted:
            wait = min(max(now - missing.since, SOON), LATEST)
            self._wanted.update(lease=None, due_at=now + wait)

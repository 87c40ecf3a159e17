"""Leases: a worker's claim on a turn, and the heartbeat that renews all claims of a process."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations.models import Turn
from conversations.states import TurnState
from ieim.knowledge.heartbeat import Heartbeat, process_heartbeat

LEASE = timedelta(seconds=15)
"""How long a worker's claim on a turn holds without a heartbeat."""


class LeaseLost(Exception):
    """Another worker has the turn, or it was closed: what this run still holds is worthless."""


def take_lease(*, turn_id: UUID) -> Turn | None:
    """Claim a turn that is queued, due for a retry, or abandoned; None when there is none to claim.

    One compare-and-set in the database: of two workers one wins. None also for a turn that was
    erased between the claim and reading it.
    """
    now = timezone.now()
    lease = uuid.uuid4()
    claimable = (
        Q(state=TurnState.QUEUED.value)
        | Q(state=TurnState.AWAITING_MODEL.value, retry_at__lte=now)
        | Q(state=TurnState.RUNNING.value, leased_until__lt=now)
    )
    claimed = Turn.objects.filter(claimable, pk=turn_id).update(
        state=TurnState.RUNNING.value, lease=lease, leased_until=now + LEASE, retry_at=None
    )
    if not claimed:
        return None
    turns = Turn.objects.select_related("session", "replaces", "choice")
    return turns.filter(pk=turn_id, lease=lease).first()


def renew_lease(*, turn_id: UUID, lease: UUID | None) -> None:
    """Extend a claim; raises :class:`LeaseLost` when it is no longer held."""
    if not leased_turn(turn_id, lease).update(leased_until=timezone.now() + LEASE):
        raise LeaseLost(str(turn_id))


def leased_turn(turn_id: UUID, lease: UUID | None) -> QuerySet[Turn]:
    """Return the turn while a claim on it is held, else nothing."""
    return Turn.objects.filter(pk=turn_id, lease=lease, state=TurnState.RUNNING.value)


@dataclass
class Lease:
    """A run's claim on a turn."""

    turn_id: UUID
    lost: bool = False

    def check(self) -> None:
        """Raise :class:`LeaseLost` where another worker has the turn by now."""
        if self.lost:
            raise LeaseLost(str(self.turn_id))


class Leases:
    """The claims of a process, by the lease that the turn names."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._held: dict[UUID, Lease] = {}
        self._lock = threading.Lock()

    @contextmanager
    def holding(self, turn: Turn) -> Iterator[Lease]:
        """Keep the lease of ``turn`` until the block ends.

        Of a worker that is killed the sweeper takes the turn back within :data:`LEASE`.
        """
        lease = turn.lease  # moving the turn gives it back
        if lease is None:
            raise ValueError(f"nobody holds turn {turn.pk}")
        claim = Lease(turn.pk)
        with self._lock:
            self._held[lease] = claim
        try:
            with self._heartbeat.beating(self.renew):
                yield claim
        finally:
            with self._lock:
                del self._held[lease]

    def renew(self) -> None:
        """Renew every lease in one statement, and note which are no longer this process's.

        Who is writing to a turn at the moment renews its lease by that: nothing waits for them.
        """
        with self._lock:
            claims = dict(self._held)
        turns = Turn.objects.filter(pk__in=[lease.turn_id for lease in claims.values()])
        mine = turns.filter(lease__in=claims, state=TurnState.RUNNING.value)
        valid = set(mine.values_list("lease", flat=True))
        for key, lease in claims.items():
            lease.lost = key not in valid
        with transaction.atomic():
            free = mine.order_by("pk").select_for_update(skip_locked=True, no_key=True)
            turns.filter(pk__in=list(free.values_list("pk", flat=True))).update(
                leased_until=timezone.now() + LEASE
            )


leases = Leases(process_heartbeat)
"""This process's."""

"""The leases of this process: all of them are renewed together, in one place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.models import Turn
from conversations.states import TurnState
from conversations.turns.services import LEASE, LeaseLost
from ieim.knowledge.heartbeat import Heartbeat, process_heartbeat


@dataclass
class Hold:
    """A run's hold on a turn."""

    turn_id: UUID
    lost: bool = False

    def check(self) -> None:
        """Raise :class:`~conversations.turns.services.LeaseLost` where another has the turn by
        now."""
        if self.lost:
            raise LeaseLost(str(self.turn_id))


class Leases:
    """What the runs of a process hold, by lease."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._held: dict[UUID, Hold] = {}
        self._lock = threading.Lock()

    @contextmanager
    def holding(self, turn: Turn) -> Iterator[Hold]:
        """Keep the lease of ``turn`` until the block ends.

        A worker that is killed stops renewing, and the sweeper takes the turn back within
        :data:`conversations.turns.services.LEASE`.
        """
        lease = turn.lease  # moving the turn gives it back
        if lease is None:
            raise ValueError(f"nobody holds turn {turn.pk}")
        hold = Hold(turn.pk)
        with self._lock:
            self._held[lease] = hold
        try:
            with self._heartbeat.beating(self.renew):
                yield hold
        finally:
            with self._lock:
                del self._held[lease]

    def renew(self) -> None:
        """Renew every lease in one statement, and note which are no longer this process's.

        Who is writing to a turn at the moment renews its lease by that: nothing waits for them.
        """
        with self._lock:
            held = dict(self._held)
        turns = Turn.objects.filter(pk__in=[hold.turn_id for hold in held.values()])
        mine = turns.filter(lease__in=held, state=TurnState.RUNNING.value)
        standing = set(mine.values_list("lease", flat=True))
        for lease, hold in held.items():
            hold.lost = lease not in standing
        with transaction.atomic():
            free = mine.order_by("pk").select_for_update(skip_locked=True, no_key=True)
            turns.filter(pk__in=list(free.values_list("pk", flat=True))).update(
                leased_until=timezone.now() + LEASE
            )


leases = Leases(process_heartbeat)
"""This process's."""

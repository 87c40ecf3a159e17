"""A semaphore over processes: how many calls a model server gets at once, from all of them.

The database has a row for each seat. Within a process one call at a time looks for a free one, so
that hundreds of waiting calls cost a query now and then. A seat has an end: one that a killed
process held is free again when its call would have been over.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import DatabaseError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from conversations.models import Seat
from ieim.pipeline.ports import Cause, Model, ModelAnswer, ModelRequest, ModelUnavailable

logger = logging.getLogger(__name__)

SPARE = 5.0
"""Seconds that a seat is kept beyond the longest call."""
POLL = 0.1
"""Seconds, give or take a half, between two looks for a free seat."""
PATIENCE = 300.0
"""Seconds that a call waits for a seat; then the turn is parked, and comes back."""

BUSY = "The model server has as many calls as it may have at once; this one has waited long enough."


class SharedSemaphore:
    """The ``most`` seats of a model server, as one process sees them. ``keep`` is in seconds."""

    def __init__(self, most: int, *, keep: float) -> None:
        self._most = most
        self._keep = timedelta(seconds=keep)
        self._holder = uuid.uuid4()
        self._first = threading.Lock()  # of the calls that wait, the one that looks
        self._database = threading.Lock()  # so that all calls together use one connection
        self._made = False

    @contextmanager
    def seat(self, patience: float = PATIENCE) -> Iterator[None]:
        """Hold a seat until the block ends.

        Raises :class:`~ieim.pipeline.ports.ModelUnavailable` where none is free in time.
        """
        number = self._acquire(time.monotonic() + patience)
        try:
            yield
        finally:
            self._release(number)

    def _acquire(self, until: float) -> int:
        if self._first.acquire(timeout=max(0.0, until - time.monotonic())):
            try:
                while True:
                    number = self._take()
                    if number is not None:
                        return number
                    if time.monotonic() >= until:
                        break
                    time.sleep(POLL * random.uniform(0.5, 1.5))  # noqa: S311  # jitter
            finally:
                self._first.release()
        raise ModelUnavailable(BUSY, passing=False, cause=Cause.BUSY)

    def _take(self) -> int | None:
        """Return the number of a seat that was free; None where there is none, or no database."""
        now = timezone.now()
        free = Seat.objects.filter(Q(until=None) | Q(until__lt=now), number__lte=self._most)
        with self._database:
            try:
                self._make()
                with transaction.atomic():
                    seat = free.order_by("number").select_for_update(skip_locked=True).first()
                    if seat is None:
                        return None
                    seat.holder, seat.until = self._holder, now + self._keep
                    seat.save(update_fields=["holder", "until"])
                    return seat.number
            except DatabaseError:
                return None
            finally:
                connection.close()

    def _release(self, number: int) -> None:
        with self._database:
            try:
                seat = Seat.objects.filter(holder=self._holder, number=number)
                seat.update(holder=None, until=None)
            except DatabaseError:
                logger.warning("Seat %s could not be given back: it ends by itself", number)
            finally:
                connection.close()

    def _make(self) -> None:
        """Make the rows that are not there yet, once a process."""
        if not self._made:
            rows = [Seat(number=number) for number in range(1, self._most + 1)]
            Seat.objects.bulk_create(rows, ignore_conflicts=True)
            self._made = True


class SharedModel:
    """A model that is called by who holds a seat only."""

    def __init__(self, model: Model, semaphore: SharedSemaphore) -> None:
        self._model = model
        self._semaphore = semaphore
        self.name, self.reads = model.name, model.reads

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Wait for a seat, then call: the deadline counts from there."""
        with self._semaphore.seat():
            return self._model.complete(request, deadline=deadline)

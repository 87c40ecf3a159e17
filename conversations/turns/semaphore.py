"""Seats: how many calls a model server gets at once, from all processes together.

The database has a row for each seat. A process takes free ones for the calls that wait in it and
gives them back after, all in one thread, so that hundreds of waiting calls cost a query now and
then. A seat has an end: one that a killed process held is free again when its call would have been
over.
"""

from __future__ import annotations

import random
import threading
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import DatabaseError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from conversations.models import Seat
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest, ModelUnavailable

SPARE = 5.0
"""Seconds that a seat is kept beyond the longest call."""
LOOK_EVERY = 0.1
"""Seconds, give or take a half, until a process looks again whether a seat is free."""
PATIENCE = 300.0
"""Seconds that a call waits for a seat; then the turn is parked, and comes back."""

BUSY = "The model server has as many calls as it may have at once; this one has waited long enough."


class Ticket:
    """A call's place in the queue."""

    def __init__(self) -> None:
        self.called = threading.Event()
        self.seat: int | None = None


class Seats:
    """The seats of a server, as one process sees them. ``keep`` is in seconds."""

    def __init__(self, most: int, *, keep: float) -> None:
        self._most = most
        self._keep = timedelta(seconds=keep)
        self._holder = uuid.uuid4()
        self._queue: deque[Ticket] = deque()
        self._back: list[int] = []
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, patience: float = PATIENCE) -> Iterator[None]:
        """Have a seat until the block ends; who comes first gets one first.

        Raises :class:`~ieim.pipeline.ports.ModelUnavailable` where none comes in time.
        """
        ticket = Ticket()
        with self._news:
            self._queue.append(ticket)
            self._start()
            self._news.notify()
        try:
            if not ticket.called.wait(patience):
                raise ModelUnavailable(BUSY, passing=False)
            yield
        finally:
            with self._news:
                if ticket.seat is not None:
                    self._back.append(ticket.seat)
                    self._news.notify()
                elif ticket in self._queue:
                    self._queue.remove(ticket)

    def _start(self) -> None:
        # A process that was forked from another has none of its threads.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="seats", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        made = False
        while True:
            with self._news:
                self._news.wait_for(lambda: self._queue or self._back)
            try:
                if not made:
                    self._make()
                    made = True
                free = self.serve()
            except DatabaseError:
                free = False  # the database is away: it is looked at again
            finally:
                connection.close()
            if not free:
                threading.Event().wait(LOOK_EVERY * random.uniform(0.5, 1.5))  # noqa: S311  # jitter

    def serve(self) -> bool:
        """Take what is needed and give back what was used; returns whether nobody waits.

        In this order: what it gives back another process can take before it looks again.
        """
        with self._news:
            back, self._back = self._back, []
            wanted = len(self._queue)
        taken = self._take(wanted) if wanted else []
        if back:
            used = Seat.objects.filter(holder=self._holder, number__in=back)
            used.update(holder=None, until=None)
        with self._news:
            for number in taken:
                if not self._queue:
                    self._back.append(number)  # somebody has lost patience meanwhile
                    continue
                ticket = self._queue.popleft()
                ticket.seat = number
                ticket.called.set()
            return not self._queue

    @transaction.atomic
    def _take(self, wanted: int) -> list[int]:
        now = timezone.now()
        free = Seat.objects.filter(Q(until=None) | Q(until__lt=now), number__lte=self._most)
        chosen = free.order_by("number").select_for_update(skip_locked=True)[:wanted]
        numbers = [seat.number for seat in chosen]
        until = now + self._keep
        Seat.objects.filter(number__in=numbers).update(holder=self._holder, until=until)
        return numbers

    def _make(self) -> None:
        """Make the rows that are not there yet."""
        rows = [Seat(number=number) for number in range(1, self._most + 1)]
        Seat.objects.bulk_create(rows, ignore_conflicts=True)


class SeatedModel:
    """A model that is called by who has a seat only."""

    def __init__(self, model: Model, seats: Seats) -> None:
        self._model = model
        self._seats = seats

    @property
    def name(self) -> str:
        """The name of the model behind it."""
        return self._model.name

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Wait for a seat, then ask: the deadline counts from there."""
        with self._seats.held():
            return self._model.complete(request, deadline=deadline)

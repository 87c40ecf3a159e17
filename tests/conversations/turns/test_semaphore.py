"""A model server gets no more calls at once than it may, whoever makes them."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from conversations.models import Seat
from conversations.turns.semaphore import SharedSemaphore
from ieim.pipeline.ports import ModelUnavailable

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]
MOST = 3


def test_processes_share_the_seats_and_every_call_gets_one() -> None:
    """Two processes with twelve calls: each call ends only when as many are there as may be."""
    lock, here, most, done = threading.Lock(), 0, 0, 0
    together = threading.Barrier(MOST)
    processes = [SharedSemaphore(MOST, keep=60) for _ in range(2)]

    def call(seats: SharedSemaphore) -> None:
        nonlocal here, most, done
        with seats.seat():
            with lock:
                here += 1
                most = max(most, here)
            together.wait(60)
            with lock:
                here -= 1
                done += 1

    threads = [threading.Thread(target=call, args=(processes[n % 2],)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert (most, done) == (MOST, 12)


def held_by_another(until: timedelta) -> None:
    Seat.objects.create(number=1, holder=uuid.uuid4(), until=timezone.now() + until)


def test_a_seat_of_a_killed_process_is_free_once_its_call_would_be_over() -> None:
    held_by_another(timedelta(seconds=-1))
    with SharedSemaphore(1, keep=60).seat(patience=60):
        connection.close()


def test_a_call_does_not_wait_for_ever() -> None:
    held_by_another(timedelta(minutes=5))
    with pytest.raises(ModelUnavailable) as raised, SharedSemaphore(1, keep=60).seat(patience=0.01):
        pytest.fail("there was no seat")
    assert not raised.value.passing


def test_a_seat_that_was_lost_is_not_given_back_for_its_new_holder() -> None:
    seats, other = SharedSemaphore(1, keep=60), uuid.uuid4()
    with seats.seat():
        Seat.objects.update(holder=other)
    assert Seat.objects.get().holder == other

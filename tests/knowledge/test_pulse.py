"""One thread renews what a process holds."""

from __future__ import annotations

import threading

from django.db import DatabaseError

from ieim.knowledge.pulse import Pulse
from ieim.knowledge.pulse import pulse as process_pulse


def test_it_beats_until_the_block_ends_and_then_no_more() -> None:
    pulse, beaten = Pulse(every=0.001), threading.Event()
    with pulse.beating(beaten.set):
        assert beaten.wait(10)
    beaten.clear()
    pulse.beat()
    assert not beaten.is_set()


def test_it_has_one_thread_for_all_and_none_afterwards() -> None:
    pulse, before = Pulse(every=60), set(threading.enumerate())
    with pulse.beating(lambda: None), pulse.beating(lambda: None):
        # Others end and begin meanwhile: the process's own pulse, a pool's.
        (thread,) = (
            thread
            for thread in set(threading.enumerate()) - before
            if thread.name == "pulse" and thread is not process_pulse._thread
        )
    thread.join(10)
    assert not thread.is_alive()


def test_it_beats_once_a_round_for_what_is_given_twice() -> None:
    pulse, beats = Pulse(every=60), []

    def beat() -> None:
        beats.append(1)

    with pulse.beating(beat):
        with pulse.beating(beat):
            pulse.beat()
        pulse.beat()
    assert len(beats) == 2


def test_it_goes_on_after_a_beat_that_fails() -> None:
    pulse, others = Pulse(every=60), []

    def fails() -> None:
        raise DatabaseError("gone")

    with pulse.beating(fails), pulse.beating(lambda: others.append(1)):
        pulse.beat()
        pulse.beat()
    assert len(others) == 2

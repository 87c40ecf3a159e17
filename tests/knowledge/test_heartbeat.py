"""One thread renews what a process holds."""

from __future__ import annotations

import threading

from django.db import DatabaseError

from ieim.knowledge.heartbeat import Heartbeat, process_heartbeat


def test_it_beats_until_the_block_ends_and_then_no_more() -> None:
    heartbeat, beaten = Heartbeat(every=0.001), threading.Event()
    with heartbeat.beating(beaten.set):
        assert beaten.wait(10)
    beaten.clear()
    heartbeat.beat()
    assert not beaten.is_set()


def test_it_has_one_thread_for_all_and_none_afterwards() -> None:
    heartbeat, before = Heartbeat(every=60), set(threading.enumerate())
    with heartbeat.beating(lambda: None), heartbeat.beating(lambda: None):
        # Others end and begin meanwhile: the process's own heartbeat, a pool's.
        (thread,) = (
            thread
            for thread in set(threading.enumerate()) - before
            if thread.name == "heartbeat" and thread is not process_heartbeat._thread
        )
    thread.join(10)
    assert not thread.is_alive()


def test_it_beats_once_a_round_for_what_is_given_twice() -> None:
    heartbeat, beats = Heartbeat(every=60), []

    def beat() -> None:
        beats.append(1)

    with heartbeat.beating(beat):
        with heartbeat.beating(beat):
            heartbeat.beat()
        heartbeat.beat()
    assert len(beats) == 2


def test_it_goes_on_after_a_beat_that_fails() -> None:
    heartbeat, others = Heartbeat(every=60), []

    def fails() -> None:
        raise DatabaseError("gone")

    with heartbeat.beating(fails), heartbeat.beating(lambda: others.append(1)):
        heartbeat.beat()
        heartbeat.beat()
    assert len(others) == 2

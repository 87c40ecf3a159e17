"""What a worker does beside its turns."""

from __future__ import annotations

import pytest
from celery import signals
from celery.concurrency import prefork, solo, thread

from ieim.knowledge.following import Follower


class Consumer:
    """What says that a worker is ready; it knows the worker's pool."""

    def __init__(self, pool: type) -> None:
        self.pool: object = object.__new__(pool)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the follower of this process is told."""
    told: list[str] = []
    monkeypatch.setattr(Follower, "start", lambda _self: told.append("start"))
    monkeypatch.setattr(Follower, "stop", lambda _self: told.append("stop"))
    return told


def test_a_worker_with_threads_follows_what_is_published(told: list[str]) -> None:
    signals.worker_ready.send(sender=Consumer(thread.TaskPool))
    assert told == ["start"]
    signals.worker_shutdown.send(sender=None)
    assert told == ["start", "stop"]


@pytest.mark.parametrize("pool", [prefork.TaskPool, solo.TaskPool])
def test_one_without_threads_does_not(told: list[str], pool: type) -> None:
    signals.worker_ready.send(sender=Consumer(pool))
    assert told == []

"""What a worker does beside its turns."""

from __future__ import annotations

from pathlib import Path

import pytest
from celery import signals
from celery.concurrency import prefork, solo, thread

from ieim.config import celery, health
from ieim.config.monitoring import processes
from ieim.knowledge.following import Follower


class Consumer:
    """What says that a worker is ready; it knows the worker's pool."""

    def __init__(self, pool: type) -> None:
        self.pool: object = object.__new__(pool)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the follower of this process is told."""
    records: list[str] = []
    monkeypatch.setattr(
        Follower, "start", lambda _self, *, trains: records.append("trains" if trains else "start")
    )
    monkeypatch.setattr(Follower, "stop", lambda _self: records.append("stop"))
    return records


def test_a_worker_with_threads_follows_what_is_published(calls: list[str]) -> None:
    signals.worker_ready.send(sender=Consumer(thread.TaskPool))
    assert calls == ["trains"]
    signals.worker_shutdown.send(sender=None)
    assert calls == ["trains", "stop"]


@pytest.mark.parametrize("pool", [prefork.TaskPool, solo.TaskPool])
def test_one_without_threads_does_not(calls: list[str], pool: type) -> None:
    signals.worker_ready.send(sender=Consumer(pool))
    assert calls == []


def test_a_worker_at_work_and_a_beat_that_has_sent_leave_a_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(celery, "_SIGNS", tmp_path)
    monkeypatch.setattr(health, "beat", lambda _kind: True)
    monkeypatch.setattr(processes, "report", lambda _kind: None)
    signals.after_task_publish.send(sender="turns")  # a web process, say
    assert list(tmp_path.iterdir()) == []
    signals.heartbeat_sent.send(sender=None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["ieim-worker"]
    signals.beat_init.send(sender=None)
    try:
        assert not (tmp_path / "ieim-beat").exists()
        signals.after_task_publish.send(sender="sweep")
        assert (tmp_path / "ieim-beat").exists()
    finally:
        signals.after_task_publish.disconnect(celery._touch_beat_file)

"""The consumer of a worker: an error at an outage of the broker does not end the worker."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from celery.bootsteps import CLOSE, RUN  # type: ignore[attr-defined]  # the stubs lack them
from celery.worker import consumer

from ieim.config.celery import app
from ieim.config.consumer import LastingConsumer


@pytest.fixture
def lasting(monkeypatch: pytest.MonkeyPatch) -> tuple[LastingConsumer, list[str]]:
    """Return the consumer of a worker whose first start fails, and the notes of its starts."""
    worker: Any = app.WorkController(pool_cls="threads", concurrency=1)
    lasting: LastingConsumer = worker.consumer
    notes: list[str] = []

    def start(_self: consumer.Consumer) -> None:
        notes.append("start")
        if notes == ["start"]:
            raise AttributeError("'NoneType' object has no attribute 'hostname'")

    monkeypatch.setattr(consumer.Consumer, "start", start)
    monkeypatch.setattr(lasting.blueprint, "restart", lambda _parent: notes.append("restart"))
    lasting.blueprint.state = RUN
    return lasting, notes


def test_it_starts_again_and_the_log_has_the_traceback(
    lasting: tuple[LastingConsumer, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    instance, notes = lasting
    instance.init_callback = None  # as once it was ready
    with caplog.at_level(logging.ERROR):
        instance.start()
    assert notes == ["start", "restart", "start"]
    assert [record.name for record in caplog.records if record.exc_info] == ["celery.worker"]


@pytest.mark.parametrize("is_stopping", [True, False])
def test_it_raises_before_it_was_ready_and_while_the_worker_stops(
    lasting: tuple[LastingConsumer, list[str]], is_stopping: bool
) -> None:
    instance, _ = lasting
    if is_stopping:
        instance.init_callback = None
        instance.blueprint.state = CLOSE
    with pytest.raises(AttributeError):
        instance.start()


def test_workers_do_not_wait_for_each_other(lasting: tuple[LastingConsumer, list[str]]) -> None:
    instance: Any = lasting[0]
    names = {type(step).__name__ for step in instance.steps}
    assert "Tasks" in names
    assert names.isdisjoint({"Mingle", "Gossip"})


def test_a_sweep_runs_when_the_broker_is_back(
    lasting: tuple[LastingConsumer, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, _ = lasting
    sent: list[str] = []
    monkeypatch.setattr(app, "send_task", sent.append)
    instance.on_ready()  # the first time: a worker that starts is no sign of an outage
    assert sent == []
    instance.on_ready()
    assert sent == ["conversations.tasks.sweep"]


def test_it_tries_to_connect_every_second(lasting: tuple[LastingConsumer, list[str]]) -> None:
    class Connection:
        def ensure_connection(self, *_arguments: object, **options: object) -> object:
            assert (options["interval_start"], options["interval_step"]) == (1, 0)
            return "connected"

    assert lasting[0].ensure_connected(Connection()) == "connected"

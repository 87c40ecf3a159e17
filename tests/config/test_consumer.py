"""The consumer of a worker: an error at an outage of the broker does not end the worker."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from celery.bootsteps import CLOSE, RUN  # type: ignore[attr-defined]  # the stubs lack them
from celery.worker import consumer
from redis.exceptions import ConnectionError as RedisAway

from ieim.config.celery import app


@pytest.fixture
def lasting() -> Any:
    worker: Any = app.WorkController(pool_cls="threads", concurrency=1)
    worker.consumer.blueprint.state = RUN
    return worker.consumer


@pytest.mark.parametrize("cause", [None, RedisAway("Connection refused")])
def test_it_starts_again_once_it_was_ready_and_until_it_stops(
    lasting: Any,
    cause: Exception | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    errors = [AttributeError("'NoneType' object has no attribute 'hostname'")]
    errors[0].__context__ = cause

    def start(_self: consumer.Consumer) -> None:
        if errors:
            raise errors[-1]

    monkeypatch.setattr(consumer.Consumer, "start", start)
    monkeypatch.setattr(lasting.blueprint, "restart", lambda _parent: errors.clear())
    monkeypatch.setattr("ieim.config.consumer.RESTART_DELAY", 0)
    with pytest.raises(AttributeError):
        lasting.start()
    lasting.init_callback = None  # as once it was ready
    lasting.blueprint.state = CLOSE
    with pytest.raises(AttributeError):
        lasting.start()
    lasting.blueprint.state = RUN
    with caplog.at_level(logging.ERROR):
        lasting.start()
    (record,) = caplog.records
    # Of a broker that is away a line is enough; what nobody expected is told in full.
    assert (record.name, bool(record.exc_info)) == ("celery.worker", cause is None)
    assert repr(cause or AttributeError("'NoneType' object has no attribute 'hostname'")) in (
        record.getMessage()
    )


def test_a_sweep_runs_when_the_broker_is_back(
    lasting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(app, "send_task", sent.append)
    lasting.on_ready()  # the first time: a worker that starts is no sign of an outage
    assert sent == []
    lasting.on_ready()
    assert sent == ["conversations.tasks.sweep"]

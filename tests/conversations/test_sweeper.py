"""The sweeper: one sweep that fails stops no other, and operators can see which it was."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial

import pytest
from django.core.cache import cache
from django.db import OperationalError

from conversations import retention, sweeper, tasks
from conversations.webhooks import delivering
from ieim.config import health
from ieim.config.monitoring import processes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    keys = [f"sweeps.{name}" for name in sweeper.read_records()]
    cache.delete_many(keys)
    yield
    cache.delete_many(keys)


def metrics() -> dict[tuple[str, ...], float]:
    """Return the value of every sample of the sweeps by its name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in processes.collect()
        for sample in family.samples
    }


@pytest.mark.parametrize("failing", sweeper.SWEEPS)
def test_a_sweep_that_raises_stops_no_other(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called = set()

    def sweep(_now: datetime, at_start: bool, *, name: str) -> None:
        called.add((name, at_start))
        if name == failing:
            raise OperationalError("no server")

    for name in sweeper.SWEEPS:
        monkeypatch.setitem(sweeper.SWEEPS, name, partial(sweep, name=name))
    assert sweeper.sweep(at_start={"mail"}) == sweeper.SWEEPS.keys() - {failing}
    assert called == {(name, name == "mail") for name in sweeper.SWEEPS}


def test_retention_is_recorded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def apply() -> None:
        raise OperationalError("no server")

    monkeypatch.setattr(retention, "apply", apply)
    tasks.retain()
    assert "retention" in health.failed_sweeps()


def test_failures_are_counted_timed_and_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert health.failed_sweeps() == ""

    def away(**_arguments: object) -> None:
        raise OperationalError("no server")

    with monkeypatch.context() as patch:
        patch.setattr(delivering, "sweep", away)
        with caplog.at_level(logging.ERROR):
            sweeper.sweep()
            sweeper.sweep()
    assert [record.args for record in caplog.records] == [("webhooks",)], "not at every sweep"
    assert re.search(r"webhooks \(20\d\d-.* UTC, OperationalError\)", health.failed_sweeps())
    failed = metrics()
    assert failed["ieim_sweeps_total", "webhooks", "failed"] == 2
    assert failed["ieim_sweeps_total", "alerts", "done"] == 2
    assert failed["ieim_sweep_failed_timestamp_seconds", "webhooks"] > 0
    assert failed["ieim_sweep_failed_timestamp_seconds", "alerts"] == 0
    assert failed["ieim_sweep_seconds_total", "alerts"] > 0

    sweeper.sweep()
    assert health.failed_sweeps() == ""
    mended = metrics()
    assert mended["ieim_sweeps_total", "webhooks", "done"] == 1
    assert mended["ieim_sweep_failed_timestamp_seconds", "webhooks"] > 0, "it stays to be seen"

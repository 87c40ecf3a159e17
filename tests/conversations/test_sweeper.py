"""The sweeper: one sweep that fails stops no other, and operators can see which it was."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.db import OperationalError
from health_check.exceptions import ServiceUnavailable

from conversations import sweeper
from conversations.outages import alerts
from conversations.person import takeovers
from conversations.turns import choosing, triage
from conversations.webhooks import delivering
from ieim.config import health
from ieim.config.monitoring import processes

pytestmark = pytest.mark.django_db

FUNCTIONS = [
    *((sweeper, "_requeue"), (triage, "sweep"), (choosing, "expire"), (takeovers, "expire")),
    *((delivering, "sweep"), (alerts, "sweep")),
]
"""What the sweeps call, in their order."""


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    cache.delete("sweeps")
    yield
    cache.delete("sweeps")


def metrics() -> dict[tuple[str, ...], float]:
    """Return the value of every sample of the sweeps by its name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in processes.collect()
        for sample in family.samples
    }


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_a_sweep_that_raises_stops_no_other(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    called = set()

    def away(*_arguments: object, **_others: object) -> None:
        called.add(number)
        raise OperationalError("no server")

    for other, (module, name) in enumerate(FUNCTIONS):
        monkeypatch.setattr(module, name, lambda *_, other=other, **__: called.add(other))
    monkeypatch.setattr(*FUNCTIONS[number], away)
    sweeper.sweep()
    assert called == {*range(len(FUNCTIONS))}


def test_failures_are_counted_timed_and_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    health.Sweeps().run()

    def away(**_arguments: object) -> None:
        raise OperationalError("no server")

    with monkeypatch.context() as patch:
        patch.setattr(delivering, "sweep", away)
        with caplog.at_level(logging.ERROR):
            sweeper.sweep()
            sweeper.sweep()
    assert [record.args for record in caplog.records] == [("webhooks",)], "not at every sweep"
    with pytest.raises(ServiceUnavailable, match=r"webhooks \(20\d\d-.* UTC, OperationalError\)"):
        health.Sweeps().run()
    failed = metrics()
    assert failed["ieim_sweeps_total", "webhooks", "failed"] == 2
    assert failed["ieim_sweeps_total", "alerts", "done"] == 2
    assert failed["ieim_sweep_failed_timestamp_seconds", "webhooks"] > 0
    assert failed["ieim_sweep_failed_timestamp_seconds", "alerts"] == 0
    assert failed["ieim_sweep_seconds_total", "alerts"] > 0

    sweeper.sweep()
    health.Sweeps().run()
    mended = metrics()
    assert mended["ieim_sweeps_total", "webhooks", "done"] == 1
    assert mended["ieim_sweep_failed_timestamp_seconds", "webhooks"] > 0, "it stays to be seen"

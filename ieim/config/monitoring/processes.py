"""State that only a process itself knows: that it runs, its circuit breaker, its embedder, and
:mod:`its measures <ieim.config.monitoring.measures>`.

Each process writes it into a slot of the cache every few seconds, so that any process can report
all of them. A slot is a small number, and no host or pid: the time series stay few.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from django.conf import settings
from django.core.cache import cache
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from conversations import sweeper
from conversations.turns import running
from ieim.config.monitoring import measures
from ieim.knowledge import vectors

SLOTS: Final = 64
EXPIRY: Final = 60
"""Seconds after its last report that a process counts as gone."""

_KEYS: Final = [f"metrics.process.{number}" for number in range(SLOTS)]
_slots: dict[str, str] = {}


def report(kind: str) -> None:
    """Write the state of this process, a ``worker`` or ``web``, into its slot.

    A cache that is away is no fault of this process.
    """
    process = f"{kind}@{socket.gethostname()}:{os.getpid()}"
    embedder = vectors.configured_embedder()
    state = {
        "who": process,
        "kind": kind,
        "breaker": running.breaker_is_open(),
        "embedder": embedder is not None and embedder.is_unavailable,
        "metrics": measures.snapshot(),
    }
    try:
        previous = cache.get(_slots[process]) if process in _slots else None
        if previous is not None and previous["who"] == process:
            cache.set(_slots[process], state, timeout=EXPIRY)
            return
        for key in _KEYS:
            if cache.add(key, state, timeout=EXPIRY):
                _slots[process] = key
                return
    except Exception:  # noqa: BLE001  # whatever the cache raises: the scrape tells of it
        return


def collect() -> Iterator[Metric]:
    """Yield what processes have reported, and how long ago workers and beat were at work."""
    states: dict[str, dict[str, Any]] = cache.get_many(_KEYS)
    count = GaugeMetricFamily("ieim_processes", "Processes at work.", labels=["kind"])
    for kind in ("web", "worker"):
        count.add_metric([kind], sum(state["kind"] == kind for state in states.values()))
    yield count
    yield GaugeMetricFamily(
        "ieim_workers_configured",
        "Worker processes that there should be (IEIM_WORKERS); 0 where it is not set.",
        value=settings.IEIM_WORKERS,
    )
    for member, text in (
        ("breaker", "Whether a process leaves the model alone for now (circuit breaker)."),
        ("embedder", "Whether the embedder of a process fails: words alone rank."),
    ):
        name = {"breaker": "ieim_breaker_open", "embedder": "ieim_embedder_unavailable"}[member]
        family = GaugeMetricFamily(name, text, labels=["kind", "process"])
        for key, state in sorted(states.items()):
            family.add_metric([state["kind"], key.rpartition(".")[2]], state[member])
        yield family
    beats = GaugeMetricFamily(
        "ieim_heartbeat_age_seconds",
        "Seconds since a worker, and beat, were last at work; +Inf where nobody knows.",
        labels=["kind"],
    )
    for kind in ("worker", "beat"):
        at = cache.get(f"heartbeat.{kind}")
        beats.add_metric([kind], float("inf") if at is None else max(0.0, time.time() - at))
    yield beats
    yield from _measures(states)
    yield from _sweeps()


def _measures(states: Mapping[str, Mapping[str, Any]]) -> Iterable[Metric]:
    """Return the measures of all processes, each sample with its process for labels.

    A sum of counters would fall when a process ends; these are series of their own.
    """
    families: dict[str, Metric] = {}
    for key, state in sorted(states.items()):
        labels = {"kind": state["kind"], "process": key.rpartition(".")[2]}
        # One of the version before has none.
        for name, text, kind, samples in state.get("metrics", ()):
            family = families.setdefault(name, Metric(name, text, kind))
            for sample, sample_labels, value in samples:
                family.add_sample(sample, {**sample_labels, **labels}, value)
    return families.values()


def _sweeps() -> Iterator[Metric]:
    runs = CounterMetricFamily(
        "ieim_sweeps", "Runs of the sweeps by what came of them.", labels=["sweep", "result"]
    )
    seconds = CounterMetricFamily(
        "ieim_sweep_seconds", "Seconds that the runs of a sweep took.", labels=["sweep"]
    )
    failed = GaugeMetricFamily(
        "ieim_sweep_failed_timestamp_seconds",
        "Unix time of a sweep's last failure; 0 where none has failed.",
        labels=["sweep"],
    )
    for name, record in sweeper.read_records().items():
        runs.add_metric([name, "done"], record.runs - record.failures)
        runs.add_metric([name, "failed"], record.failures)
        seconds.add_metric([name], record.seconds)
        failed.add_metric([name], record.failed_at)
    yield from (runs, seconds, failed)

"""Measures of this process itself: its requests, its memory, and its pool of connections.

They are kept by ``prometheus_client`` in a registry of this process, and reach a scrape by
:mod:`ieim.config.monitoring.processes`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from django.db import connection
from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

REGISTRY: Final = CollectorRegistry()
REQUEST_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

Application = Callable[[Any, Any, Any], Awaitable[None]]


class PoolCollector(Collector):
    """The pool of database connections; nothing with SQLite, which has none."""

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of ``psycopg_pool``."""
        pool = getattr(connection, "pool", None)
        if pool is None:
            return
        stats: dict[str, int] = pool.get_stats()
        for name, text, key in (
            ("max", "Database connections that this process may have.", "pool_max"),
            ("size", "Database connections that it has.", "pool_size"),
            ("waiting", "Threads that wait for one.", "requests_waiting"),
        ):
            yield GaugeMetricFamily(f"ieim_database_pool_{name}", text, value=stats.get(key, 0))
        yield CounterMetricFamily(
            "ieim_database_pool_wait_seconds",
            "Seconds that threads have waited for a connection, all together.",
            value=stats.get("requests_wait_ms", 0) / 1000,
        )


ProcessCollector(namespace="ieim", registry=REGISTRY)
REGISTRY.register(PoolCollector())
_requests = Histogram(
    "ieim_http_request_seconds",
    "Seconds of HTTP requests by the class of their status; probes and scrapes are not counted.",
    ["status"],
    buckets=REQUEST_SECONDS,
    registry=REGISTRY,
)
for _status in ("2xx", "3xx", "4xx", "5xx"):
    _requests.labels(_status)  # reported as 0 at first


def measure_requests(application: Application) -> Application:
    """Return the ASGI ``application`` (HTTP) with its requests counted and timed.

    One whose client left before there was a response is not counted.
    """

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        start, status = time.perf_counter(), ""

        async def send_and_note(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = f"{message['status'] // 100}xx"
            await send(message)

        try:
            await application(scope, receive, send_and_note)
        finally:
            if status:
                _requests.labels(status).observe(time.perf_counter() - start)

    return wrapped


def snapshot() -> list[tuple[str, str, str, list[tuple[str, dict[str, str], float]]]]:
    """Return the name, help, type and samples (name, labels, value) of every metric."""
    return [
        (
            metric.name,
            metric.documentation,
            metric.type,
            [
                (sample.name, sample.labels, sample.value)
                for sample in metric.samples
                if not sample.name.endswith("_created")
            ],
        )
        for metric in REGISTRY.collect()
    ]

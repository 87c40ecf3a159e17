"""Figures of Redis, asked at the time of the scrape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from redis import Redis

TIMEOUT: Final = 3
"""Seconds for each answer of Redis."""


def collect() -> Iterator[Metric]:
    """Yield the figures. Raises RedisError where Redis is away or refuses ``INFO``."""
    info, queued = _read()
    for name, text, value in (
        ("memory_bytes", "Memory that Redis uses.", info["used_memory"]),
        ("memory_max_bytes", "Memory that Redis may use; 0 is no limit.", info["maxmemory"]),
        ("clients", "Connections that Redis has.", info["connected_clients"]),
        ("queued_tasks", "Tasks that no worker has taken.", queued),
    ):
        yield GaugeMetricFamily(f"ieim_redis_{name}", text, value=value)
    yield CounterMetricFamily(
        "ieim_redis_evicted_keys", "Keys that Redis dropped to stay below its memory.",
        value=info["evicted_keys"],
    )  # fmt: skip


def _read() -> tuple[dict[str, Any], int]:
    with Redis.from_url(
        settings.IEIM_REDIS_URL, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT
    ) as client:
        info: Any = client.info()
        queued: Any = client.llen(settings.CELERY_TASK_DEFAULT_QUEUE)
    return info, queued

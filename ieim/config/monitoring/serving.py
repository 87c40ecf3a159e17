"""``/metrics``: figures for Prometheus, for who has the token.

It answers before Django's middleware, as probes do: a scraper inside the network needs
neither the public host name nor https.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from conversations.turns.executor import release_connection
from ieim.config.monitoring import broker, counting, gauges, processes

PATH = "/metrics"

logger = logging.getLogger(__name__)

Application = Callable[[Any, Any, Any], Awaitable[None]]


class Metrics(Collector):
    """All figures. A part whose source is away is left out, and ``ieim_metrics_complete`` says so:
    the rest is worth the more then."""

    def collect(self) -> Iterator[Metric]:
        """Yield them, read now."""
        complete = GaugeMetricFamily(
            "ieim_metrics_complete",
            "Whether a part of these figures could be read: waiting from the database, counters "
            "from database and cache, processes from the cache, redis from Redis itself.",
            labels=["part"],
        )
        parts: dict[str, Callable[[], Iterable[Metric]]] = {
            "waiting": gauges.collect,
            "counters": counting.collect,
            "processes": processes.collect,
            **({"redis": broker.collect} if settings.IEIM_REDIS_URL else {}),
        }
        for part, read in parts.items():
            metrics: list[Metric] = []
            try:
                metrics = list(read())
            except Exception:
                logger.warning("Metrics: %s cannot be read", part, exc_info=True)
            complete.add_metric([part], bool(metrics))
            yield from metrics
        yield complete


def encode_metrics(accept: str = "") -> tuple[bytes, str]:
    """Return all figures, and their content type: Prometheus' text format, or OpenMetrics where
    ``accept`` (the header) asks for it."""
    registry = CollectorRegistry()
    # Not registered: that would read everything to learn the names.
    registry.collect = Metrics().collect  # type: ignore[method-assign]  # mypy: a method
    encode, content_type = choose_encoder(accept)
    try:
        return encode(registry), content_type
    finally:
        release_connection()


def serve_metrics(application: Application) -> Application:
    """Return the ASGI ``application`` with ``/metrics`` before it, where a token is set."""

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        token = settings.IEIM_METRICS_TOKEN
        if not token or scope["path"] != PATH or scope["method"] != "GET":
            await application(scope, receive, send)
            return
        request_headers = dict(scope["headers"])
        status, body, kind = 401, b"", "text/plain"
        if hmac.compare_digest(
            request_headers.get(b"authorization", b""), f"Bearer {token}".encode()
        ):
            accept = request_headers.get(b"accept", b"").decode("latin-1")
            status, (body, kind) = 200, await asyncio.to_thread(encode_metrics, accept)
        headers = [
            (b"content-type", kind.encode()),
            (b"cache-control", b"no-store"),
            (b"content-length", str(len(body)).encode()),
        ]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return wrapped

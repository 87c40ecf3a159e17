"""What probes are told."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, transaction
from health_check.exceptions import ServiceUnavailable

from ieim.audit import checkpoints
from ieim.audit.services import record_system
from ieim.config import health


async def probe(path: str, method: str = "GET") -> tuple[int, bytes]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def beyond(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    scope = {"type": "http", "path": path, "method": method}
    await health.answer_probes(beyond)(scope, None, send)
    return sent[0]["status"], sent[1]["body"]


def test_a_live_process_asks_for_nothing() -> None:
    status, body = asyncio.run(probe(health.LIVE))
    assert (status, json.loads(body)) == (200, {"status": "ok", "checks": {}})
    assert asyncio.run(probe(health.LIVE, "HEAD")) == (200, b"")
    assert asyncio.run(probe(health.LIVE, "POST"))[0] == 404
    assert asyncio.run(probe("/livez/"))[0] == 404


@pytest.mark.parametrize(("problem", "status"), [("ok", 200), ("No sign of worker.", 503)])
def test_it_is_ready_when_everything_is(
    problem: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = 0

    async def ask() -> dict[str, str]:
        nonlocal asks
        asks += 1
        return {"database": "ok", "worker": problem}

    async def probes() -> list[tuple[int, bytes]]:
        return await asyncio.gather(*(probe(health.READY) for _ in range(3)))

    monkeypatch.setattr(health, "_run_checks", ask)
    monkeypatch.setattr(health, "_readiness", health.Readiness())
    for result, body in asyncio.run(probes()):
        assert result == status
        assert json.loads(body)["checks"]["worker"] == problem
    assert asks == 1, "anybody may send many"


def test_a_process_without_a_heartbeat_for_a_minute_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "_last", {})
    cache.delete("heartbeat.worker")
    assert health.missing_heartbeat("worker")
    health.beat("worker")
    assert health.missing_heartbeat("worker") == ""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + health.STALE + 1)
    assert health.missing_heartbeat("worker") == "No sign of worker for 60 seconds."


def test_a_heartbeat_is_written_seldom_and_its_cache_may_be_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "_last", {})
    written: list[str] = []

    class Away:
        def set(self, key: str, _value: float, *, timeout: float) -> None:
            written.append(key)
            raise ConnectionError("no")

    monkeypatch.setattr(health, "cache", Away())
    for _ in range(3):
        health.beat("beat")
    assert written == ["heartbeat.beat"]


@pytest.mark.django_db
def test_it_is_not_ready_where_a_seal_that_was_promised_never_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert health.missing_seals() == ""
    monkeypatch.setattr(settings, "IEIM_SEALED", True)
    assert "never sealed" in health.missing_seals()
    with transaction.atomic():
        record_system(kind=checkpoints.SEALED, payload={"number": 1}, actor="system")
    assert health.missing_seals() == ""
    monkeypatch.setattr(checkpoints, "SEALED_WITHIN", timedelta(minutes=-1))
    assert "0 minutes ago" in health.missing_seals()


def test_a_fault_or_a_database_that_is_away_makes_a_check_fail() -> None:
    def away() -> str:
        raise OperationalError("no server")

    for find_fault, message in ((lambda: "Nothing runs.", "Nothing"), (away, "does not answer")):
        with pytest.raises(ServiceUnavailable, match=message):
            health.Check(find_fault).run()
    health.Check(lambda: "").run()

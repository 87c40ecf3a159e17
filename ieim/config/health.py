"""Probes: ``/livez`` (this process answers) and ``/readyz`` (the site can take questions).

Both answer before Django's middleware, so that a probe needs no host name, no https and no session,
and nothing of them reaches a log. Their answers hold no secret and no version.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from health_check.base import HealthCheck
from health_check.checks import Cache, Database
from health_check.exceptions import ServiceUnavailable

from conversations import sweeper
from ieim.audit.checkpoints import missing_seal
from ieim.config import process
from ieim.knowledge.following import follower

LIVE, READY = "/livez", "/readyz"

STALE: Final = 60.0
"""Seconds after its last heartbeat that a process counts as gone: twelve sweeps."""

_EVERY: Final = 5.0
_FRESH: Final = 1.0
_KEY: Final = "heartbeat"
_last: dict[str, float] = {}
_migrated = threading.Event()

Application = Callable[[Any, Any, Any], Awaitable[None]]


def beat(kind: str) -> bool:
    """Record that a ``worker`` is at work, or that ``beat`` has had something done.

    At most every five seconds; return whether it was time. A cache that is away is no fault of a
    heartbeat.
    """
    now = time.time()
    if now - _last.get(kind, 0.0) < _EVERY:
        return False
    _last[kind] = now
    with suppress(Exception):  # whatever the cache raises: readiness tells of it
        cache.set(f"{_KEY}.{kind}", now, timeout=10 * STALE)
    return True


@dataclass
class Check(HealthCheck):
    """A check by a function that returns what is wrong, in words for operators, else nothing."""

    find_fault: Callable[[], str] = field(repr=False)
    timeout = timedelta(seconds=3)

    def run(self) -> None:
        """Raise ServiceUnavailable where something is wrong, or where nobody can say."""
        try:
            fault = self.find_fault()
        except DatabaseError as error:
            raise ServiceUnavailable("The database does not answer.") from error
        finally:
            connection.close()
        if fault:
            raise ServiceUnavailable(fault)


def missing_migrations() -> str:
    # That they have been run holds for as long as the process: its code does not change.
    if not _migrated.is_set():
        connection.ensure_connection()
        if process.missing_tables():
            return "Migrations have not been run."
        _migrated.set()
    return ""


def missing_release() -> str:
    # Read means its search and its danger layer too.
    return "" if follower.is_ready else "No release is ready: nothing is published, or it is read."


def missing_heartbeat(kind: str) -> str:
    last: float = cache.get(f"{_KEY}.{kind}", 0.0)
    return f"No sign of {kind} for {STALE:.0f} seconds." if time.time() - last > STALE else ""


def missing_seals() -> str:
    # What somebody has sealed once by hand is no promise, and the site answers without it.
    return missing_seal() if settings.IEIM_SEALED else ""


def failed_sweeps() -> str:
    failed = [
        f"{name} ({datetime.fromtimestamp(record.failed_at, UTC):%Y-%m-%d %H:%M:%S} UTC, "
        f"{record.error})"
        for name, record in sweeper.read_records().items()
        if record.error
    ]
    return f"Sweeps failed: {', '.join(failed)}. The log of the worker says why." if failed else ""


def checks() -> dict[str, HealthCheck]:
    """Return the checks by the names under which a probe shows them."""
    return {
        "database": Database(),
        "migrations": Check(missing_migrations),
        "redis": Cache(timeout=timedelta(seconds=3)),
        "release": Check(missing_release),
        "worker": Check(partial(missing_heartbeat, "worker")),
        "beat": Check(partial(missing_heartbeat, "beat")),
        "seals": Check(missing_seals),
        "sweeps": Check(failed_sweeps),
    }


class Readiness:
    """The results of :func:`checks`, made at most once a second: anybody may send a probe."""

    def __init__(self) -> None:
        self._latest: asyncio.Task[dict[str, str]] | None = None
        self._started = 0.0

    async def results(self) -> dict[str, str]:
        """Return for each check ``ok`` or what is wrong."""
        if self._latest is None or (
            self._latest.done() and time.monotonic() - self._started > _FRESH
        ):
            self._started = time.monotonic()
            self._latest = asyncio.create_task(_run_checks())
        return await asyncio.shield(self._latest)


_readiness = Readiness()


async def _run_checks() -> dict[str, str]:
    checks_by_name = checks()
    results = await asyncio.gather(*(check.get_result() for check in checks_by_name.values()))
    return {
        name: "ok" if result.error is None else str(result.error)
        for name, result in zip(checks_by_name, results, strict=True)
    }


def answer_probes(application: Application) -> Application:
    """Return the ASGI ``application`` with both probes before it."""

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"]
        if path not in (LIVE, READY) or scope["method"] not in ("GET", "HEAD"):
            await application(scope, receive, send)
            return
        results = await _readiness.results() if path == READY else {}
        ok = all(result == "ok" for result in results.values())
        body = json.dumps({"status": "ok" if ok else "unavailable", "checks": results}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"cache-control", b"no-store"),
            (b"content-length", str(len(body)).encode()),
        ]
        status = 200 if ok else 503
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": body})

    return wrapped

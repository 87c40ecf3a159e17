"""Probes: whether this process lives, and whether the site can take questions.

``/livez`` says that the process answers, ``/readyz`` what of all that a question needs is there.
Both answer before Django's middleware, so that a probe needs no host name, no https and no session,
and nothing of them reaches a log. What they say holds no secret and no version.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
    """Say that a ``worker`` is at work, or that ``beat`` has had something done; at most every five
    seconds, and return whether it was time. A cache that is away is no fault of a heartbeat."""
    now = time.time()
    if now - _last.get(kind, 0.0) < _EVERY:
        return False
    _last[kind] = now
    with suppress(Exception):  # whatever the cache raises: readiness tells of it
        cache.set(f"{_KEY}.{kind}", now, timeout=10 * STALE)
    return True


@dataclass
class Migrations(HealthCheck):
    """Every migration has been run."""

    timeout = timedelta(seconds=3)

    def run(self) -> None:
        """Raise ServiceUnavailable where one has not, or where nobody can say.

        That they have been run holds for as long as the process: its code does not change.
        """
        if _migrated.is_set():
            return
        try:
            connection.ensure_connection()
            if process.missing_tables():
                raise ServiceUnavailable("Migrations have not been run.")
        except DatabaseError as error:
            raise ServiceUnavailable("The database does not answer.") from error
        finally:
            connection.close()
        _migrated.set()


@dataclass
class Release(HealthCheck):
    """A release is published, and this process has read it, its search and its danger layer."""

    async def run(self) -> None:
        """Raise ServiceUnavailable where it has not."""
        if not follower.is_ready:
            raise ServiceUnavailable("No release is ready: nothing is published, or it is read.")


@dataclass
class Heartbeat(HealthCheck):
    """Some process of a kind has been at work in the last minute."""

    kind: str = "worker"
    timeout = timedelta(seconds=3)

    def run(self) -> None:
        """Raise ServiceUnavailable where none was."""
        if time.time() - cache.get(f"{_KEY}.{self.kind}", 0.0) > STALE:
            raise ServiceUnavailable(f"No sign of {self.kind} for {STALE:.0f} seconds.")


@dataclass
class Seals(HealthCheck):
    """The audit record is sealed, where ``IEIM_SEALED`` says that it is: what somebody has sealed
    once by hand is no promise, and the site answers without it."""

    timeout = timedelta(seconds=3)

    def run(self) -> None:
        """Raise ServiceUnavailable where it is not, or where nobody can say."""
        try:
            fault = missing_seal() if settings.IEIM_SEALED else ""
        except DatabaseError as error:
            raise ServiceUnavailable("The database does not answer.") from error
        finally:
            connection.close()
        if fault:
            raise ServiceUnavailable(fault)


@dataclass
class Sweeps(HealthCheck):
    """The last run of every sweep has succeeded."""

    timeout = timedelta(seconds=3)

    def run(self) -> None:
        """Raise ServiceUnavailable with the names and times of those that failed."""
        failed = [
            f"{name} ({datetime.fromtimestamp(record.failed_at, UTC):%Y-%m-%d %H:%M:%S} UTC, "
            f"{record.error})"
            for name, record in sweeper.read_records().items()
            if record.error
        ]
        if failed:
            raise ServiceUnavailable(
                f"Sweeps failed: {', '.join(failed)}. The log of the worker says why."
            )


def checks() -> dict[str, HealthCheck]:
    """Return what has to be there, by the name under which a probe is told of it."""
    return {
        "database": Database(),
        "migrations": Migrations(),
        "redis": Cache(timeout=timedelta(seconds=3)),
        "release": Release(),
        "worker": Heartbeat("worker"),
        "beat": Heartbeat("beat"),
        "seals": Seals(),
        "sweeps": Sweeps(),
    }


class Readiness:
    """What :func:`checks` say, asked at most once a second: anybody may send a probe."""

    def __init__(self) -> None:
        self._latest: asyncio.Task[dict[str, str]] | None = None
        self._asked = 0.0

    async def told(self) -> dict[str, str]:
        """Return for each check ``ok`` or why not, in words for operators."""
        if self._latest is None or (
            self._latest.done() and time.monotonic() - self._asked > _FRESH
        ):
            self._asked = time.monotonic()
            self._latest = asyncio.create_task(_ask())
        return await asyncio.shield(self._latest)


_readiness = Readiness()


async def _ask() -> dict[str, str]:
    named = checks()
    results = await asyncio.gather(*(check.get_result() for check in named.values()))
    return {
        name: "ok" if result.error is None else str(result.error)
        for name, result in zip(named, results, strict=True)
    }


def probed(application: Application) -> Application:
    """Return the ASGI ``application`` with both probes before it."""

    async def answering(scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"]
        if path not in (LIVE, READY) or scope["method"] not in ("GET", "HEAD"):
            await application(scope, receive, send)
            return
        found = await _readiness.told() if path == READY else {}
        ok = all(said == "ok" for said in found.values())
        body = json.dumps({"status": "ok" if ok else "unavailable", "checks": found}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"cache-control", b"no-store"),
            (b"content-length", str(len(body)).encode()),
        ]
        status = 200 if ok else 503
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": body})

    return answering

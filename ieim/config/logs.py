"""Logging: lines on standard error, without secrets."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import TimeoutError as RedisLate

AWAY: Final = (OperationalError, InterfaceError, BrokerError, RedisAway, RedisLate)
"""What says that the database or Redis cannot be reached."""

TRYING: Final = frozenset(
    {"psycopg.pool", "celery.beat", "celery.worker.consumer.consumer", "kombu.connection"}
)
"""Loggers that tell of each try to reach them again."""

A_MINUTE: Final = 60.0


class RoutesOnly(logging.Filter):
    """Put a request's route in place of its address, which may hold a resume link's secret."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's arguments; let every record through."""
        request = getattr(record, "request", None)
        path = getattr(request, "path", None)
        if path and isinstance(record.args, tuple):
            match = getattr(request, "resolver_match", None)
            route = match.route if match else "(no route)"
            record.args = tuple(route if arg == path else arg for arg in record.args)
        return True


class OutagesInShort(logging.Filter):
    """Tell an outage of the database or of Redis in a line a minute, without its traceback.

    Every request, sweep and heartbeat fails in the same way meanwhile; the next line says how many
    were left out. All else goes through.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._told: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record, or keep it back."""
        error = _away(record.exc_info[1] if record.exc_info else None)
        kind = type(error).__name__ if error is not None else record.name
        trying = record.name in TRYING and record.levelno >= logging.WARNING
        # What a request was told while the database is away.
        told = record.name == "django.request" and getattr(record, "status_code", 0) == 503
        if error is None and not trying and not told:
            return True
        now = self._clock()
        with self._lock:
            since, left_out = self._told.get(kind, (-A_MINUTE, 0))
            if now - since < A_MINUTE:
                self._told[kind] = (since, left_out + 1)
                return False
            self._told[kind] = (now, 0)
        said = f" ({type(error).__name__}: {error})" if error is not None else ""
        more = f"; {left_out} more like it since the last such line" if left_out else ""
        record.msg = " ".join(f"{record.getMessage()}{said}{more}".split())
        record.args, record.exc_info, record.exc_text = (), None, None
        return True


def _away(error: BaseException | None) -> BaseException | None:
    """Return what in the chain of ``error`` says that something cannot be reached."""
    while error is not None and not isinstance(error, AWAY):
        error = error.__cause__ or error.__context__
    return error


def configuration(level: str) -> dict[str, Any]:
    """Log lines go to standard error, so that what a command prints stays clean for a pipe.

    Addresses hold secrets (resume links) and exceptions of clients hold words: requests are named
    by their route, and chatty libraries are heard from WARNING up.
    """
    http = ("httpcore", "httpcore2", "httpx", "httpx2", "uvicorn.access", "uvicorn.error")
    clients = ("asyncio", "axes", "openai", *http)
    # These say that a sweep has come and gone, every few seconds.
    sweeps = ("celery.app.trace", "celery.beat", "celery.worker.strategy")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "routes": {"()": "ieim.config.logs.RoutesOnly"},
            "outages": {"()": "ieim.config.logs.OutagesInShort"},
        },
        "formatters": {
            "line": {
                "format": "{asctime} {levelname} {name}: {message}",
                "style": "{",
            }
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["routes", "outages"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers would say everything twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Of requests, only those that failed here are worth a line.
            "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
            # Who probes is told.
            "health_check": {"handlers": [], "level": "CRITICAL", "propagate": True},
            # Anybody can send a wrong Host header; the answer is 400, and there is nothing to do.
            # (Without a level, no handler anywhere would mean the last resort: standard error.)
            "django.security.DisallowedHost": {"handlers": [], "level": "CRITICAL"},
        }
        | {
            name: {"handlers": [], "level": "WARNING", "propagate": True}
            for name in clients + sweeps
        },
    }

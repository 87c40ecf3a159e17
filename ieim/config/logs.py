"""Logging: lines on standard error, as text or JSON, without secrets and citizens' words."""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import TimeoutError as RedisLate

from conversations import logged, traced
from ieim.pipeline.ports import EmbedderUnavailable, ModelUnavailable

AWAY: Final = (OperationalError, InterfaceError, BrokerError, RedisAway, RedisLate)
"""Errors of a database or Redis that cannot be reached."""

TRYING: Final = frozenset(
    {"psycopg.pool", "celery.beat", "celery.worker.consumer.consumer", "kombu.connection"}
)
"""Loggers that write a line for each try to reach them again."""

FATAL: Final = "celery.worker"
"""The logger of what ends a worker or its consumer: its lines are always written in full."""

A_MINUTE: Final = 60.0

OURS: Final = ("ieim", "conversations", "review")

_SPEAKING: Final = (*AWAY, ModelUnavailable, EmbedderUnavailable)
_LEFT_OUT: Final = "(its words are left out: they may be a citizen's)"


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
    """Let through one line a minute, without its traceback, of an outage.

    That is one of the database, of Redis or of the collector of traces, in which every request,
    sweep and heartbeat fails in the same way. The next line says how many were left out.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record, or keep it back."""
        if record.name == FATAL:
            return True
        error = away(record.exc_info[1] if record.exc_info else None)
        kind = type(error).__name__ if error is not None else record.name
        tries = record.name in TRYING or record.name.startswith("opentelemetry.")
        trying = tries and record.levelno >= logging.WARNING
        # The answer to a request while the database is away.
        is_503 = record.name == "django.request" and getattr(record, "status_code", 0) == 503
        if error is None and not trying and not is_503:
            return True
        now = self._clock()
        with self._lock:
            since, left_out = self._last.get(kind, (-A_MINUTE, 0))
            if now - since < A_MINUTE:
                self._last[kind] = (since, left_out + 1)
                return False
            self._last[kind] = (now, 0)
        text = f" ({type(error).__name__}: {error})" if error is not None else ""
        suffix = f"; {left_out} more like it since the last such line" if left_out else ""
        record.msg = " ".join(f"{record.getMessage()}{text}{suffix}".split())
        record.args, record.exc_info, record.exc_text = (), None, None
        return True


class NoWords(logging.Filter):
    """Leave out the texts of exceptions, which may hold a citizen's words.

    Such are the row that a database refuses, or the value that a check does. Types and lines of
    code stay, and the texts of errors of the network, the file system and the ports to the models.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; let every record through."""
        if isinstance(record.args, tuple):
            record.args = tuple(map(_wordless, record.args))
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return True
        # Others write the exception into their own sentence.
        message = record.getMessage()
        for cause in _chain(error):
            if not _speaks(cause):
                for words in filter(None, (repr(cause), str(cause))):
                    message = message.replace(words, type(cause).__name__)
        record.msg, record.args = message, ()
        record.exc_text = "\n".join(_format(cause) for cause in reversed([*_chain(error)]))
        return True


def _wordless(value: Any) -> Any:
    unspoken = isinstance(value, BaseException) and not _speaks(value)
    return f"{type(value).__name__} {_LEFT_OUT}" if unspoken else value


def _speaks(error: BaseException) -> bool:
    system = isinstance(error, OSError) and type(error).__module__ == "builtins"
    return system or isinstance(error, _SPEAKING)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, those of its group, and what it came of."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        link = waiting.pop()
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            yield link
            waiting += [link.__cause__ or link.__context__]
            waiting += link.exceptions if isinstance(link, BaseExceptionGroup) else ()


def _format(error: BaseException) -> str:
    # What a database says below its first line may be a row.
    text = (str(error).splitlines() or [""])[0] if _speaks(error) else _LEFT_OUT
    lines = "".join(traceback.format_tb(error.__traceback__))
    return f"{lines}{type(error).__module__}.{type(error).__qualname__}: {text}"


class Ids(logging.Filter):
    """Add the ids of request, session, turn and trace to a record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through."""
        trace_id = traced.trace_id()
        record.ids = {**logged.ids(), **({"trace_id": trace_id} if trace_id else {})}
        return True


class TextLine(logging.Formatter):
    """A line for people, its ids at the end."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # its name in logging
        """Return the line."""
        ids = " ".join(f"{name}={value}" for name, value in vars(record).get("ids", {}).items())
        return super().formatMessage(record) + (f" [{ids}]" if ids else "")


class JsonLine(logging.Formatter):
    """A line for programs: one JSON object, without what else a record carries.

    A request's address may be a secret.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the object."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **vars(record).get("ids", {}),
        }
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            line["exception"] = record.exc_text
        return json.dumps(line)


def away(error: BaseException | None) -> BaseException | None:
    """Return what in the chain of ``error`` says that something cannot be reached, or None."""
    while error is not None and not isinstance(error, AWAY):
        error = error.__cause__ or error.__context__
    return error


def configuration(level: str, form: str, *, words: bool) -> dict[str, Any]:
    """Log lines go to standard error, so that what a command prints stays clean for a pipe.

    Addresses hold secrets (resume links) and exceptions hold words: requests are named by their
    route, chatty libraries are heard from WARNING up and others from INFO, and exceptions say
    nothing unless ``words`` (in development).
    """
    http = ("httpcore2", "httpx2", "uvicorn.access", "uvicorn.error")
    # uvicorn's own handler would write its lines in its own form.
    clients = ("asyncio", "axes", "openai", "uvicorn", *http)
    # These say that a sweep has come and gone, every few seconds.
    sweeps = ("celery.app.trace", "celery.beat", "celery.worker.strategy")
    others = "INFO" if level == "DEBUG" else level
    quiet = "ERROR" if level == "ERROR" else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "routes": {"()": "ieim.config.logs.RoutesOnly"},
            "outages": {"()": "ieim.config.logs.OutagesInShort"},
            "words": {"()": "ieim.config.logs.NoWords"},
            "ids": {"()": "ieim.config.logs.Ids"},
        },
        "formatters": {
            "text": {"()": "ieim.config.logs.TextLine"},
            "json": {"()": "ieim.config.logs.JsonLine"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["routes", *([] if words else ["words"]), "outages", "ids"],
            }
        },
        "root": {"handlers": ["stderr"], "level": others},
        "loggers": {
            **{name: {"level": "DEBUG"} for name in OURS if level == "DEBUG"},
            # Django's own handlers would say everything twice.
            "django": {"handlers": [], "level": others, "propagate": True},
            # Of requests, only those that failed here are worth a line.
            "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
            # It tells of every wrong call, with what was sent; who sent it is told.
            "mcp": {"handlers": [], "level": "ERROR", "propagate": True},
            # Who probes is told.
            "health_check": {"handlers": [], "level": "CRITICAL", "propagate": True},
            # Anybody can send a wrong Host header; the answer is 400, and there is nothing to do.
            # (Without a level, no handler anywhere would mean the last resort: standard error.)
            "django.security.DisallowedHost": {"handlers": [], "level": "CRITICAL"},
        }
        | {name: {"handlers": [], "level": quiet, "propagate": True} for name in clients + sweeps},
    }

"""Logging: lines on standard error, without secrets."""

from __future__ import annotations

import logging
from typing import Any


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


def configuration(level: str) -> dict[str, Any]:
    """Log lines go to standard error, so that what a command prints stays clean for a pipe.

    Addresses hold secrets (resume links) and exceptions of clients hold words: requests are named
    by their route, and chatty libraries are heard from WARNING up.
    """
    clients = ("asyncio", "axes", "httpcore", "httpx", "openai", "uvicorn.access", "uvicorn.error")
    # These say that a sweep has come and gone, every few seconds.
    sweeps = ("celery.app.trace", "celery.beat", "celery.worker.strategy")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"routes": {"()": "ieim.config.logs.RoutesOnly"}},
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
                "filters": ["routes"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers would say everything twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Of requests, only those that failed here are worth a line.
            "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
            # Anybody can send a wrong Host header; the answer is 400, and there is nothing to do.
            "django.security.DisallowedHost": {"handlers": [], "propagate": False},
        }
        | {
            name: {"handlers": [], "level": "WARNING", "propagate": True}
            for name in clients + sweeps
        },
    }

"""What people and programs get while the database is away: 503 within a second, and when to ask
again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError, connection
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from psycopg_pool import PoolTimeout

PATIENCE: Final = 0.4
"""Seconds that a request waits for a connection to the database."""

KNOWN: Final = 0.02
"""And once none could be had, until one can: the pool tries by itself."""

RETRY_AFTER: Final = 10
"""Seconds after which it is worth asking again."""


def serve_impatiently() -> None:
    """Let requests of this process wait for the database no longer than :data:`PATIENCE`: a person
    looks at each of them, where a worker can wait."""
    pool = getattr(connection, "pool", None)  # SQLite has none
    if pool is None:
        return
    getconn, away = pool.getconn, threading.Event()

    def impatient(_timeout: float | None = None) -> Any:
        try:
            found = getconn(KNOWN if away.is_set() else PATIENCE)
        except PoolTimeout:
            away.set()
            raise
        away.clear()
        return found

    pool.getconn = impatient


@receiver(got_request_exception)
def _note(request: HttpRequest | None = None, **_signal: Any) -> None:
    if request is not None and isinstance(sys.exception(), OperationalError | InterfaceError):
        request.META["ieim.outage"] = True


def outage_page(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an error of ours because the database cannot be reached becomes 503.

    Its page is whole by itself, and asks the database nothing.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code != 500 or "ieim.outage" not in request.META:
            return response
        page = HttpResponse(render_to_string("503.html"), status=503)
        page["Retry-After"] = str(RETRY_AFTER)
        page["Cache-Control"] = "no-store"
        return page

    return middleware

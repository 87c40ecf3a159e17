"""503 within a second while the database is away, with the time to ask again."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError, connection
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import translation
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout
from redis import RedisError

SLOW: Final = 0.4
"""Seconds after which a request without a connection pings the database."""

SLOW_AGAIN: Final = 0.02
"""The same once the database was away, until there is a connection: the pool tries by itself."""

PING_VALID: Final = 1.0
"""Seconds for which the result of a ping counts for other requests too."""

_AWAY: Final = (OperationalError, InterfaceError, RedisError)
"""Errors of the database, and of Redis where there is no answer without it (signing in)."""

RETRY_AFTER: Final = 10
"""Seconds after which it is worth asking again."""


class _Ping:
    """Pings of the database's server, which need no place in the pool."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        parameter_names = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
        arguments = {name: value for name, value in parameters.items() if name in parameter_names}
        self._conninfo = make_conninfo(**arguments).encode()
        self._lock = threading.Lock()
        self._pinged_at, self._answers = 0.0, False

    def answers(self) -> bool:
        with self._lock:
            if time.monotonic() - self._pinged_at > PING_VALID:
                # In a thread, because a host that swallows packets keeps libpq for two seconds.
                results: list[int] = []
                ping = threading.Thread(
                    target=lambda: results.append(pq.PGconn.ping(self._conninfo)), daemon=True
                )
                ping.start()
                ping.join(SLOW)
                self._pinged_at, self._answers = time.monotonic(), results == [int(pq.Ping.OK)]
            return self._answers


def limit_waits_for_database() -> None:
    """Limit to about a second how long requests of this process wait for a database that is away.

    A person looks at each of them; a worker can wait. One that is only busy is waited for as long
    as the pool says.
    """
    pool = getattr(connection, "pool", None)  # SQLite has none
    if pool is None:
        return
    getconn, away = pool.getconn, threading.Event()
    server = _Ping(pool.kwargs)

    def getconn_with_limit(timeout: float | None = None) -> Any:
        try:
            conn = getconn(SLOW_AGAIN if away.is_set() else SLOW)
        except PoolTimeout:
            if not server.answers():
                away.set()
                raise
            conn = getconn(timeout)
        away.clear()
        return conn

    pool.getconn = getconn_with_limit


@receiver(got_request_exception)
def _note(request: HttpRequest | None = None, **_signal: Any) -> None:
    if request is not None and isinstance(sys.exception(), _AWAY):
        request.META["ieim.outage"] = True


def outage_page(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an error of ours because the database or Redis cannot be reached becomes 503.

    Its page is whole by itself, and asks the database nothing.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code != 500 or "ieim.outage" not in request.META:
            return response
        # This is outside of what sets a request's language, which would have left it by now.
        with translation.override(translation.get_language_from_request(request)):
            page = HttpResponse(render_to_string("503.html"), status=503)
        page["Retry-After"] = str(RETRY_AFTER)
        page["Cache-Control"] = "no-store"
        return page

    return middleware

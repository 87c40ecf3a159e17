"""One HTTP POST of JSON with a total deadline and a limit on what is read of the answer.

The timeouts of an HTTP client count from one read to the next: a server that sends a byte now and
then, in the head or in the body, keeps a call alive for ever. Here every read and write of a call
is clipped to what is left of one deadline.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import httpcore
import httpx

MAX_BODY = 1024 * 1024
"""Bytes of an answer's body that are read at most."""

MAX_ERROR_BODY = 64 * 1024
"""Bytes of the body of any other status than 200."""

_FIRST_READ = 1024
"""Bytes of the first read of an answer: the buffer is allocated for as long as it is waited for."""
_WRITE = 16 * 1024
_KEEP_ALIVE_SECONDS = 5.0


class Response(NamedTuple):
    """``headers`` have lower-case names. ``whole`` is False where the body was cut at its limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


class Server:
    """One address of a server and its open connections; safe to share between threads.

    Create it after a fork. Proxies named in the environment are not used. Looking up the host's
    name is the one thing that the deadline cannot interrupt. ``settings`` is the beginning of the
    names of the environment variables that a ValueError names: for a ``base_url`` that is no HTTP
    address, and for a key that could not stand in a header.
    """

    def __init__(self, base_url: str, path: str, *, key: str, settings: str) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"{settings}_BASE_URL has to begin with http:// or https://.")
        if not re.fullmatch(r"[\x21-\x7e]*", key):
            raise ValueError(f"{settings}_API_KEY holds a space or a character outside ASCII.")
        try:
            url = httpx.URL(base_url.rstrip("/") + path)
        except httpx.InvalidURL:
            raise ValueError(f"{settings}_BASE_URL is no address.") from None
        self._url = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        )
        # No compressed body is asked for: it could grow a thousandfold beyond the limit.
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []

    def post(self, content: Mapping[str, Any], *, seconds: float) -> Response:
        """Send ``content`` as JSON and return what came, within ``seconds`` in all.

        Raises TimeoutError after that time and ConnectionError when the connection fails, without
        a word of what was sent or received.
        """
        failure: Exception
        connection = self._connection()
        connection.deadline = time.monotonic() + seconds
        encoded = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {**self._headers, "Content-Length": str(len(encoded))}
        # An iterator drops what it has given: while hundreds of calls wait, none keeps its body.
        body = iter((encoded,))
        del encoded
        try:
            response = connection.exchange(self._url, headers, body)
        except httpcore.TimeoutException:
            failure = TimeoutError("No whole answer came before the deadline.")
        except (httpcore.NetworkError, httpcore.ProtocolError):
            failure = ConnectionError("The connection failed.")
        else:
            with self._lock:
                self._idle.append(connection)
            return response
        # Raised outside the except clauses: the errors behind it may quote headers or the body.
        raise failure

    def _connection(self) -> _Connection:
        """Return the connection that was used last, or a new one when none is open."""
        while True:
            with self._lock:
                if not self._idle:
                    return _Connection(self._url.origin)
                connection = self._idle.pop()
            if connection.is_open():
                return connection


class _Connection(httpcore.NetworkBackend):
    """A connection for one call at a time, whose reads and writes end at ``deadline``."""

    def __init__(self, origin: httpcore.Origin) -> None:
        self.deadline = 0.0
        self._backend = httpcore.SyncBackend()
        self._http = httpcore.HTTPConnection(
            origin,
            ssl_context=_ssl_context() if origin.scheme == b"https" else None,
            keepalive_expiry=_KEEP_ALIVE_SECONDS,
            network_backend=self,
        )

    def is_open(self) -> bool:
        """Whether another call can use it; an expired connection is closed."""
        if self._http.is_idle() and not self._http.has_expired():
            return True
        self._http.close()
        return False

    def exchange(
        self, url: httpcore.URL, headers: dict[str, str], body: Iterator[bytes]
    ) -> Response:
        """Send one request and read its response. Raises the errors of httpcore."""
        self.clip(None, httpcore.ConnectTimeout)
        with self._http.stream("POST", url, headers=[*headers.items()], content=body) as response:
            found = {
                name.decode().lower(): value.decode("latin-1") for name, value in response.headers
            }
            limit = MAX_BODY if response.status == 200 else MAX_ERROR_BODY
            read = bytearray()
            try:
                for chunk in response.iter_stream():
                    read += chunk
                    if len(read) > limit:
                        break
            except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
                # The status of an error says enough; a broken or endless body must not hide it.
                if response.status == 200:
                    raise
            return Response(response.status, found, bytes(read[:limit]), len(read) <= limit)

    def clip(self, timeout: float | None, error: type[Exception]) -> float:
        """Return the seconds for one read or write; raises ``error`` after the deadline."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise error("The deadline has passed.")
        return left if timeout is None else min(timeout, left)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = self.clip(timeout, httpcore.ConnectTimeout)
        stream = self._backend.connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(stream, self)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, connection: _Connection) -> None:
        self._stream = stream
        self._connection = connection
        self._sent = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._sent:
            max_bytes, self._sent = min(max_bytes, _FIRST_READ), False
        return self._stream.read(max_bytes, self._connection.clip(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._sent = True
        # In pieces: the timeout of one write starts again with each part that the peer takes.
        for start in range(0, len(buffer), _WRITE):
            left = self._connection.clip(timeout, httpcore.WriteTimeout)
            self._stream.write(buffer[start : start + _WRITE], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._connection.clip(timeout, httpcore.ConnectTimeout)
        stream = self._stream.start_tls(ssl_context, server_hostname, left)
        return _Stream(stream, self._connection)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()

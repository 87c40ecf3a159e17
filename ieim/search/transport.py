"""An HTTP transport with a total deadline and a cap on what it reads.

A client's timeouts count from one read to the next, so that a server which drips a byte now and
then, in the head or in the body, keeps a call alive for ever. Here every read and write of a call
is clipped to what is left of one deadline.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from typing import Any

import httpcore
import httpx

MAX_BODY = 1024 * 1024
"""Bytes of an answer's body that are read at most."""

MAX_ERROR_BODY = 64 * 1024
"""Bytes of an error's body; the rest is left unread."""

_FIRST = 1024
"""Bytes of the first read of an answer: their room is taken for as long as it is waited for."""
_WRITE = 16 * 1024
_NETWORK_ERRORS = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError)
_deadline: ContextVar[float] = ContextVar("ieim_llm_deadline")


class BodyTooLargeError(Exception):
    """The body is larger than ``MAX_BODY``; ``read`` is what had come until then."""

    def __init__(self, read: bytes) -> None:
        super().__init__(f"The body is larger than {MAX_BODY} bytes.")
        self.read = read


@contextmanager
def total_deadline(seconds: float) -> Iterator[None]:
    """Let every call of this thread that is made inside end within ``seconds`` in all."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Return the seconds until the deadline, negative when it has passed.

    Outside :func:`total_deadline` there is no call to make: LookupError.
    """
    return _deadline.get() - time.monotonic()


def _clip(timeout: float | None, error: type[Exception]) -> float:
    left = seconds_left()
    if left <= 0:
        raise error("The deadline has passed.")
    return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._asked = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._asked:
            max_bytes, self._asked = min(max_bytes, _FIRST), False
        return self._stream.read(max_bytes, _clip(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._asked = True
        # In pieces: the timeout of one write starts again with each part that the peer takes.
        for start in range(0, len(buffer), _WRITE):
            piece = buffer[start : start + _WRITE]
            self._stream.write(piece, _clip(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = _clip(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = _clip(timeout, httpcore.ConnectTimeout)
        return _Stream(self._backend.connect_tcp(host, port, left, local_address, socket_options))


class _Body(httpx.SyncByteStream):
    """The bytes of a response: an answer over the cap is an error, an error is cut off."""

    def __init__(self, response: httpcore.Response, ended: Callable[[], None]) -> None:
        self._response = response
        self._ended: Callable[[], None] | None = ended
        self._is_error = response.status >= 300

    def __iter__(self) -> Iterator[bytes]:
        return self._of_error() if self._is_error else self._of_answer()

    def _of_answer(self) -> Iterator[bytes]:
        read = bytearray()
        for chunk in self._response.iter_stream():
            read += chunk
            if len(read) > MAX_BODY:
                raise BodyTooLargeError(bytes(read[:MAX_BODY]))
            yield chunk

    def _of_error(self) -> Iterator[bytes]:
        # The status says what matters; a broken or endless body must not hide it.
        size = 0
        with suppress(*_NETWORK_ERRORS):
            for chunk in self._response.iter_stream():
                size += len(chunk)
                if size > MAX_ERROR_BODY:
                    return
                yield chunk

    def close(self) -> None:
        self._response.close()
        ended, self._ended = self._ended, None
        if ended:
            ended()


_CONNECTIONS = 32
"""Calls of one pool: with each call a pool looks at every connection that it has, so that hundreds
in one would cost more time than the calls themselves."""


class _Pool:
    """One pool and how many calls it has under way."""

    def __init__(self) -> None:
        self.calls = 0
        self.pool = httpcore.ConnectionPool(
            ssl_context=_ssl_context(),
            network_backend=_Backend(),
            # As many as there are callers: they are bounded by the workers, and a call that
            # waits for a connection would lose time that its deadline counts.
            max_connections=None,
            keepalive_expiry=5.0,
        )


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()


class DeadlineTransport(httpx.BaseTransport):
    """Pools of connections that obey :func:`total_deadline`; safe to share between threads.

    Proxies named in the environment are not used. The errors are httpcore's; looking up the host's
    name is the one thing that the deadline cannot interrupt.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pools = [_Pool()]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; see :class:`httpx.BaseTransport`."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        pool = self._taken()
        try:
            response = pool.pool.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=url,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        except BaseException:
            self._left(pool)
            raise
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response, partial(self._left, pool)),
            extensions=response.extensions,
        )

    def _taken(self) -> _Pool:
        """Return the first pool that has room: in quiet times always the same few connections."""
        with self._lock:
            pool = next((each for each in self._pools if each.calls < _CONNECTIONS), None)
            if pool is None:
                pool = _Pool()
                self._pools.append(pool)
            pool.calls += 1
            return pool

    def _left(self, pool: _Pool) -> None:
        with self._lock:
            pool.calls -= 1

    def close(self) -> None:
        """Close every connection."""
        for each in self._pools:
            each.pool.close()


class Client(httpx.Client):
    """A client that keeps no body once it is sent: hundreds of calls wait at the same time."""

    def build_request(self, *args: Any, **named: Any) -> httpx.Request:
        """Return a request that can be sent once; see :class:`httpx.Client`."""
        content = named.get("content")
        if isinstance(content, bytes):
            headers = httpx.Headers(named.get("headers"))
            headers["Content-Length"] = str(len(content))  # not known of an iterator: chunked
            named = {**named, "headers": headers, "content": iter((content,))}
        return super().build_request(*args, **named)

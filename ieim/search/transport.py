"""Calls of an OpenAI-compatible server with a total deadline and a limit on what is read.

The timeouts of an HTTP client count from one read to the next: a server that sends a byte now and
then, in the head or in the body, keeps a call alive for ever. Here every read and write of a call
is clipped to what is left of one deadline.
"""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, NamedTuple

import httpcore2
import httpx2
import openai

MAX_BODY = 1024 * 1024
"""Bytes of an answer's body that are read at most."""

MAX_ERROR_BODY = 64 * 1024
"""Bytes of the body of any other status than 200."""

_FIRST_READ = 1024
"""Bytes of the first read of an answer: the buffer is allocated for as long as it is waited for."""
_WRITE = 16 * 1024
_CALLS = 32
"""Calls of one pool: with each call a pool looks at every connection that it has, so that hundreds
in one would cost more time than the calls themselves."""
_NETWORK_ERRORS = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)
_deadline: ContextVar[float] = ContextVar("ieim_deadline")


class Response(NamedTuple):
    """``headers`` have lower-case names. ``whole`` is False where the body was cut at its limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


def client(base_url: str, key: str, *, settings: str) -> openai.OpenAI:
    """Return a client that never retries; safe to share between threads, create it after a fork.

    Proxies named in the environment are not used. Looking up the host's name is the one thing that
    the deadline cannot interrupt. ``settings`` is the beginning of the names of the environment
    variables that a ValueError names: for a ``base_url`` that is no HTTP address, and for a key
    that could not stand in a header.
    """
    if not base_url.startswith(("http://", "https://")):
        raise ValueError(f"{settings}_BASE_URL has to begin with http:// or https://.")
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise ValueError(f"{settings}_API_KEY holds a space or a character outside ASCII.")
    try:
        return openai.OpenAI(
            base_url=base_url,
            # A server that wants no key takes any; an empty one would be no legal header.
            api_key=key or "none",
            max_retries=0,
            http_client=_Client(transport=_Transport()),
        )
    except httpx2.InvalidURL:
        raise ValueError(f"{settings}_BASE_URL is no address.") from None


def exchange(
    create: Callable[..., AbstractContextManager[Any]],
    content: Mapping[str, Any],
    *,
    seconds: float,
) -> Response:
    """Return what came of ``create(**content)`` within ``seconds`` in all.

    ``create`` is a method of a :func:`client`'s resource ``with_streaming_response``. Raises
    TimeoutError after that time and ConnectionError when the connection fails, without a word of
    what was sent or received.
    """
    failure: Exception
    token = _deadline.set(time.monotonic() + seconds)
    try:
        # No compressed body is asked for: it could grow a thousandfold beyond the limit.
        identity = {"Accept-Encoding": "identity"}
        with create(**content, timeout=max(seconds, 0.001), extra_headers=identity) as response:
            return _response(response.http_response, b"".join(response.http_response.iter_raw()))
    except openai.APIStatusError as error:
        return _response(error.response, error.response.content)
    except (openai.APITimeoutError, httpcore2.TimeoutException):
        failure = TimeoutError("No whole answer came before the deadline.")
    except (openai.APIError, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        failure = ConnectionError("The connection failed.")
        if isinstance(error.__cause__, httpcore2.TimeoutException):
            failure = TimeoutError("No whole answer came before the deadline.")
    finally:
        _deadline.reset(token)
    # Raised outside the except clauses: the errors behind it may quote headers or the body.
    raise failure


def _response(response: httpx2.Response, body: bytes) -> Response:
    limit = _limit(response.status_code)
    return Response(response.status_code, response.headers, body[:limit], len(body) <= limit)


def _limit(status: int) -> int:
    return MAX_BODY if status == 200 else MAX_ERROR_BODY


def _clip(timeout: float | None, error: type[Exception]) -> float:
    """Return the seconds for one read or write; raises ``error`` after the deadline."""
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise error("The deadline has passed.")
    return left if timeout is None else min(timeout, left)


class _Client(httpx2.Client):
    """A client that keeps no body once it is sent: hundreds of calls wait at the same time."""

    def build_request(self, *args: Any, **named: Any) -> httpx2.Request:
        content = named.get("content")
        if isinstance(content, bytes):
            headers = httpx2.Headers(named.get("headers"))
            headers["Content-Length"] = str(len(content))  # an iterator has none: it is chunked
            named = {**named, "headers": headers, "content": iter((content,))}
        return super().build_request(*args, **named)


class _Transport(httpx2.BaseTransport):
    """Pools of connections that obey :func:`exchange`'s deadline. The errors are httpcore2's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pools: dict[httpcore2.ConnectionPool, int] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        pool = self._take()
        try:
            response = pool.handle_request(
                httpcore2.Request(
                    method=request.method,
                    url=httpcore2.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        except BaseException:
            self._give_back(pool)
            raise
        return httpx2.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response, partial(self._give_back, pool)),
            extensions=response.extensions,
        )

    def _take(self) -> httpcore2.ConnectionPool:
        """Return the first pool that has room: in quiet times always the same few connections."""
        with self._lock:
            pool = next((each for each, calls in self._pools.items() if calls < _CALLS), None)
            if pool is None:
                # As many connections as callers, which the workers bound: a call that waits for
                # one would lose time that its deadline counts.
                pool = httpcore2.ConnectionPool(
                    ssl_context=_ssl_context(),
                    network_backend=_Backend(),
                    max_connections=None,
                    keepalive_expiry=5.0,
                )
            self._pools[pool] = self._pools.get(pool, 0) + 1
            return pool

    def _give_back(self, pool: httpcore2.ConnectionPool) -> None:
        with self._lock:
            self._pools[pool] -= 1

    def close(self) -> None:
        for pool in self._pools:
            pool.close()


class _Body(httpx2.SyncByteStream):
    """The bytes of a response, one more than its limit at most."""

    def __init__(self, response: httpcore2.Response, ended: Callable[[], None]) -> None:
        self._response = response
        self._ended: Callable[[], None] | None = ended

    def __iter__(self) -> Iterator[bytes]:
        left = _limit(self._response.status) + 1
        try:
            for chunk in self._response.iter_stream():
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    return
        except _NETWORK_ERRORS:
            # The status of an error says enough; a broken or endless body must not hide it.
            if self._response.status == 200:
                raise

    def close(self) -> None:
        self._response.close()
        ended, self._ended = self._ended, None
        if ended:
            ended()


class _Backend(httpcore2.NetworkBackend):
    def __init__(self) -> None:
        self._backend = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _clip(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._backend.connect_tcp(host, port, left, local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._sent = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._sent:
            max_bytes, self._sent = min(max_bytes, _FIRST_READ), False
        return self._stream.read(max_bytes, _clip(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._sent = True
        # In pieces: the timeout of one write starts again with each part that the peer takes.
        for start in range(0, len(buffer), _WRITE):
            left = _clip(timeout, httpcore2.WriteTimeout)
            self._stream.write(buffer[start : start + _WRITE], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _clip(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()

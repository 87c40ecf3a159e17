"""Calls of an OpenAI-compatible server, each within one deadline and without retries.

The timeouts of an HTTP client count from one read to the next: a server that sends a byte now and
then keeps a call alive for ever. So the calls of a process run in one event loop, in a thread of
its own, where a deadline is for the whole call.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
import threading
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import httpx2

MAX_BODY: Final = 1024 * 1024
"""Bytes of an answer's body that are read at most."""

MAX_ERROR_BODY: Final = 64 * 1024
"""Bytes of the body of any other status than 200."""

_CALLS: Final = 32
"""Calls of one client: with each call it looks at every connection that it has, so that hundreds in
one would cost more time than the calls themselves."""


class Response(NamedTuple):
    """``headers`` have lower-case names. ``whole`` is False where the body was cut at its limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


class Server:
    """An OpenAI-compatible server; one instance serves all threads of a process.

    Proxies named in the environment are not used. ``settings`` is the beginning of the names of the
    environment variables that errors name.

    Raises:
        ValueError: ``base_url`` is no HTTP address, or ``key`` could not stand in a header.
    """

    def __init__(self, base_url: str, key: str, *, settings: str) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"{settings}_BASE_URL has to begin with http:// or https://.")
        if not re.fullmatch(r"[\x21-\x7e]*", key):
            raise ValueError(f"{settings}_API_KEY holds a space or a character outside ASCII.")
        try:
            self._base_url = httpx2.URL(base_url)
        except httpx2.InvalidURL:
            raise ValueError(f"{settings}_BASE_URL is no address.") from None
        self._headers = {
            # A server that wants no key takes any; an empty one would be no legal header.
            "Authorization": f"Bearer {key or 'none'}",
            "Content-Type": "application/json",
            # A compressed body could grow a thousandfold beyond the limit.
            "Accept-Encoding": "identity",
        }
        self._calls: dict[httpx2.AsyncClient, int] = {}

    def post(self, path: str, content: Mapping[str, Any], *, seconds: float) -> Response:
        """Send ``content`` as JSON and return what came, within ``seconds`` in all.

        Raises:
            TimeoutError: no whole answer came before the deadline.
            ConnectionError: the connection failed.
        """
        failure: Exception = TimeoutError("No whole answer came before the deadline.")
        if seconds > 0:
            sending = self._send(path, [json.dumps(content).encode()], seconds)
            try:
                return asyncio.run_coroutine_threadsafe(sending, _event_loop(os.getpid())).result()
            except TimeoutError:
                pass
            except httpx2.HTTPError:
                failure = ConnectionError("The connection failed.")
        # Raised outside the except clauses: the errors behind it may quote headers or the body.
        raise failure

    async def _send(self, path: str, pieces: list[bytes], seconds: float) -> Response:
        # Hundreds of calls wait at the same time: none of them keeps what it has sent.
        length = {"Content-Length": str(sum(map(len, pieces)))}
        client = self._client()
        self._calls[client] += 1
        response: httpx2.Response | None = None
        body = bytearray()
        try:
            async with (
                asyncio.timeout(seconds),
                client.stream("POST", path, headers=length, content=_drain(pieces)) as response,
            ):
                limit = MAX_BODY if response.status_code == 200 else MAX_ERROR_BODY
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > limit:
                        break
        except (TimeoutError, httpx2.HTTPError):
            # The status of an error says enough; a broken or slow body must not hide it.
            if response is None or response.status_code == 200:
                raise
        finally:
            self._calls[client] -= 1
        return Response(
            response.status_code, response.headers, bytes(body[:limit]), len(body) <= limit
        )

    def _client(self) -> httpx2.AsyncClient:
        """Return the first client that has room: in quiet times always the same few connections."""
        for client, calls in self._calls.items():
            if calls < _CALLS:
                return client
        client = httpx2.AsyncClient(
            base_url=self._base_url,
            headers=self._headers,
            verify=_ssl_context(),
            trust_env=False,
            timeout=None,
            limits=httpx2.Limits(max_connections=None),
        )
        self._calls[client] = 0
        return client


async def _drain(pieces: list[bytes]) -> AsyncIterator[bytes]:
    while pieces:
        yield pieces.pop(0)


@cache
def _event_loop(_process: int) -> asyncio.AbstractEventLoop:
    """Return the loop of this process; a fork has none of its parent's threads."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="ieim-http", daemon=True).start()
    return loop


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()

"""Calls of an OpenAI-compatible server, each within one deadline and without retries.

The timeouts of an HTTP client count from one read to the next: a server that sends a byte now and
then keeps a call alive for ever. So the calls of a process run in one event loop, in a thread of
its own, where a deadline is for the whole call.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple

import httpx2
import openai

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

    Proxies named in the environment are used where ``has_proxy`` says so. ``settings`` is the
    beginning of the names of the environment variables that errors name.

    Raises:
        ValueError: ``base_url`` is no HTTP address, or ``key`` could not stand in a header.
    """

    def __init__(self, base_url: str, key: str, *, settings: str, has_proxy: bool = False) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"{settings}_BASE_URL has to begin with http:// or https://.")
        if not re.fullmatch(r"[\x21-\x7e]*", key):
            raise ValueError(f"{settings}_API_KEY holds a space or a character outside ASCII.")
        try:
            self._base_url = httpx2.URL(base_url)
        except httpx2.InvalidURL:
            raise ValueError(f"{settings}_BASE_URL is no address.") from None
        # A server that wants no key takes any; an empty one would be no legal header.
        self._key = key or "none"
        self._has_proxy = has_proxy
        self._calls: dict[openai.AsyncOpenAI, int] = {}

    def create(
        self,
        resource: Literal["chat.completions", "embeddings"],
        content: Mapping[str, Any],
        *,
        seconds: float,
    ) -> Response:
        """Return what came of creating ``resource`` of ``content``, within ``seconds`` in all.

        Raises:
            TimeoutError: no whole answer came before the deadline.
            ConnectionError: the connection failed.
        """
        failure: Exception = TimeoutError("No whole answer came before the deadline.")
        if seconds > 0:
            sending = self._send(resource, content, seconds)
            try:
                return asyncio.run_coroutine_threadsafe(sending, _event_loop(os.getpid())).result()
            except TimeoutError:
                pass
            except (openai.OpenAIError, httpx2.HTTPError):
                failure = ConnectionError("The connection failed.")
        # Raised outside the except clauses: the errors behind it may quote headers or the body.
        raise failure

    async def _send(self, resource: str, content: Mapping[str, Any], seconds: float) -> Response:
        client = self._client()
        create = attrgetter(resource)(client).with_streaming_response.create
        self._calls[client] += 1
        errors: list[httpx2.Response] = []
        _errors.set(errors)
        try:
            # A compressed body could grow a thousandfold beyond the limit.
            async with (
                asyncio.timeout(seconds),
                create(**content, extra_headers={"Accept-Encoding": "identity"}) as response,
            ):
                return await _read(response.http_response, MAX_BODY)
        except _ErrorStatus as error:
            return error.response
        except (TimeoutError, openai.OpenAIError, httpx2.HTTPError):
            if not errors:
                raise
            # The status says enough; a broken or slow body must not hide it.
            return Response(errors[0].status_code, errors[0].headers, b"", whole=False)
        finally:
            self._calls[client] -= 1

    def _client(self) -> openai.AsyncOpenAI:
        """Return the first client that has room: in quiet times always the same few connections."""
        for client, calls in self._calls.items():
            if calls < _CALLS:
                return client
        client = openai.AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._key,
            max_retries=0,
            timeout=None,
            http_client=httpx2.AsyncClient(
                verify=_ssl_context(),
                trust_env=self._has_proxy,
                limits=httpx2.Limits(max_connections=None),
                event_hooks={"response": [_stop_at_error]},
            ),
        )
        self._calls[client] = 0
        return client


_errors: ContextVar[list[httpx2.Response]] = ContextVar("errors")
"""The responses of the call at hand with another status than 200."""


class _ErrorStatus(openai.OpenAIError):
    """Another status than 200, with as much of its body as is read."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


async def _stop_at_error(response: httpx2.Response) -> None:
    """Raise before the client reads the whole body of an error."""
    if response.status_code != 200:
        _errors.get().append(response)
        raise _ErrorStatus(await _read(response, MAX_ERROR_BODY))


async def _read(response: httpx2.Response, limit: int) -> Response:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > limit:
            break
    return Response(
        response.status_code, response.headers, bytes(body[:limit]), whole=len(body) <= limit
    )


@cache
def _event_loop(_process: int) -> asyncio.AbstractEventLoop:
    """Return the loop of this process; a fork has none of its parent's threads."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="ieim-http", daemon=True).start()
    return loop


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()

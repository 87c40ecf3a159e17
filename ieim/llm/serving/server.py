"""The offline engine over HTTP, as an OpenAI-compatible endpoint under ``/v1``.

``POST /v1/chat/completions`` and ``GET /v1/models``; any key is accepted. The application is plain
ASGI, so that whatever wraps it sees every request before it and every answer after it.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn

from ieim.llm.offline import OfflineInputError, OfflineModel
from ieim.llm.serving.connection import OfferingProtocol
from ieim.llm.serving.protocol import ProtocolError, completion, models, read_request

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_REQUEST = 4 * 1024 * 1024
"""Bytes of a request's body."""

_STOP_SECONDS = 5.0


def offline_app(*, delay: float = 0.0, refuse: Collection[str] = ()) -> App:
    """Return the ASGI application; every completion waits ``delay`` seconds first.

    ``refuse`` names what it does not take, of :data:`ieim.llm.serving.refusals.REFUSALS`.
    """
    model = OfflineModel()

    async def chat(receive: Receive) -> dict[str, Any]:
        request = read_request(await _body(receive), model=model.name, refuse=refuse)
        await asyncio.sleep(delay)
        try:
            # In a thread: while one answer is worked out, others are read and sent.
            answer = await asyncio.to_thread(model.complete, request, deadline=0.0)
        except OfflineInputError as error:
            raise ProtocolError(400, str(error), param="messages") from None
        return completion(answer, created=int(time.time()))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            _check_route(scope["path"], scope["method"])
            if scope["method"] == "POST":
                status, content = 200, await chat(receive)
            else:
                status, content = 200, models(model.name, created=int(time.time()))
        except ProtocolError as error:
            status, content = error.status, error.as_dict()
        await _send_json(send, status, content)

    return app


def serve(app: App, *, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve ``app`` until SIGINT or SIGTERM; ``port`` 0 takes a free one.

    ``ready`` is called with the base URL as soon as connections are taken. Raises OSError when the
    address cannot be had.
    """
    listener = _listen(host, port)
    ready(_base_url(listener))
    with suppress(KeyboardInterrupt):
        _server(app).run(sockets=[listener])


@contextmanager
def running_server(app: App, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve ``app`` from a thread and yield its base URL, which ends in ``/v1``."""
    listener = _listen(host, port)
    server = _server(app)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name="offline-llm", daemon=True
    )
    thread.start()
    try:
        # The socket listens already: whoever connects before the loop runs only waits a moment.
        yield _base_url(listener)
    finally:
        server.should_exit = True
        thread.join(_STOP_SECONDS)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=128)


def _base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def _server(app: App) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=OfferingProtocol,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
    )


def _check_route(path: str, method: str) -> None:
    """Let the two routes through; raise what the protocol says of any other."""
    methods = {"/v1/chat/completions": "POST", "/v1/models": "GET"}
    if path not in methods:
        raise ProtocolError(404, f"There is no {path} here.", code="not_found")
    if method != methods[path]:
        raise ProtocolError(405, f"{path} takes {methods[path]} only.", code="method_not_allowed")


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise ProtocolError(400, "The request ended before its body did.")
        body += event.get("body", b"")
        if len(body) > MAX_REQUEST:
            raise ProtocolError(413, f"The body is larger than {MAX_REQUEST} bytes.")
        if not event.get("more_body", False):
            return bytes(body)


async def _send_json(send: Send, status: int, content: dict[str, Any]) -> None:
    body = json.dumps(content).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

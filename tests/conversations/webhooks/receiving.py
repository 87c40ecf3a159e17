"""A program that is told: a real HTTP server on loopback, and Standard Webhooks' own check."""

from __future__ import annotations

import json
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.db import connections

from conversations.models import Delivery
from conversations.tasks import deliver
from conversations.webhooks import outbox, services
from tests.model_server import QUICK

NAME = "office"


class Receiver:
    """Keeps what came. ``status`` is what it says; ``held`` is waited for before that."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 204
        self.headers: dict[str, str] = {}
        self.held: threading.Event | None = None
        self.came = threading.Event()
        self.got: list[tuple[dict[str, str], bytes]] = []

    @property
    def told(self) -> list[str]:
        """The events in the order in which they came."""
        return [json.loads(body)["type"] for _, body in self.got]


@contextmanager
def receiver(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Listen on loopback until the block ends, with ``tls`` at https://localhost."""
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
            kept.came.set()
            if kept.held is not None:
                kept.held.wait(30)
            self.send_response(kept.status)
            for name, value in kept.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def do_GET(self) -> None:
            kept.got.append(({}, b'{"type": "followed"}'))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scheme, host = "http", "127.0.0.1"
    if tls is not None:
        listener.socket = tls.wrap_socket(listener.socket, server_side=True)
        scheme, host = "https", "localhost"
    thread = threading.Thread(target=listener.serve_forever, kwargs=QUICK, daemon=True)
    thread.start()
    kept.url = f"{scheme}://{host}:{listener.server_port}/ieim"
    try:
        yield kept
    finally:
        if kept.held is not None:
            kept.held.set()
        listener.shutdown()
        listener.server_close()
        thread.join()


@contextmanager
def trickling() -> Iterator[str]:
    """Listen at an address whose answer never ends to begin: a byte now and then, for a while."""
    over = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                self.request.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                for _ in range(100):
                    self.request.sendall(b"x")
                    if over.wait(0.05):
                        return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs=QUICK, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            over.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def office(db: None) -> Iterator[Receiver]:
    """A webhook ``office`` with its receiver."""
    with receiver() as listening:
        services.make(name=NAME, url=listening.url, private=False)
        yield listening


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the deliveries whose tasks were queued: nothing runs them here by itself."""
    ids: list[str] = []

    def send(task: str, args: tuple[str], **_: Any) -> None:
        if task == outbox.DELIVER:
            ids.extend(args)

    monkeypatch.setattr(current_app, "send_task", send)
    return ids


def work() -> None:
    """Do what a worker would with every delivery."""
    for pk in list(Delivery.objects.values_list("pk", flat=True)):
        deliver(str(pk))


def closing(delivery: str) -> None:
    """Do so with one in a thread of its own."""
    try:
        deliver(delivery)
    finally:
        connections.close_all()


def verified(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Check a signature by the very lines that ``docs/integrating.md`` shows."""
    page = (Path(settings.BASE_DIR) / "docs" / "integrating.md").read_text(encoding="utf-8")
    [code] = [each for each in page.split("```python\n") if "def is_ours" in each]
    names: dict[str, Any] = {}
    exec(code.partition("```")[0], names)  # noqa: S102  # our own page
    return bool(names["is_ours"](secret, dict(headers), body))

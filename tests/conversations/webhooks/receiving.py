"""A receiver of webhooks on loopback, and the events that it gets."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.db import connections
from django.utils import timezone

from conversations.models import Delivery, Session, Turn
from conversations.tasks import deliver
from conversations.turns import services as turns
from conversations.webhooks import outbox, services
from tests.model_server import QUICK

NAME = "office"


class Receiver:
    """HTTP server that stores requests in ``requests`` as headers and body.

    It answers with ``status`` and ``headers``; if ``gate`` is set, after that event.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.status = 204
        self.headers: dict[str, str] = {}
        self.gate: threading.Event | None = None
        self.arrived = threading.Event()
        self.requests: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.requests.append((headers, body))
                receiver.arrived.set()
                if receiver.gate is not None:
                    receiver.gate.wait(30)
                self.send_response(receiver.status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        address = f"http://127.0.0.1:{self.server.server_port}"
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
            address = f"https://localhost:{self.server.server_port}"
        self.url = f"{address}/ieim"

    @property
    def events(self) -> list[str]:
        """Types of the events, in the order of their arrival."""
        return [json.loads(body)["type"] for _, body in self.requests]


@contextmanager
def running_receiver(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver until the block ends."""
    receiver = Receiver(tls)
    thread = threading.Thread(target=receiver.server.serve_forever, kwargs=QUICK, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        if receiver.gate is not None:
            receiver.gate.set()
        receiver.server.shutdown()
        receiver.server.server_close()
        thread.join()


@contextmanager
def running_proxy() -> Iterator[tuple[str, list[str]]]:
    """Run a proxy that has loopback for every host; yield its address, and who it was asked for."""
    targets: list[str] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            target = self.rfile.readline().split()[1].decode()
            while self.rfile.readline().strip():
                pass
            targets.append(target)
            with socket.create_connection(("127.0.0.1", int(target.rpartition(":")[2]))) as server:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                reading = threading.Thread(target=pump, args=(server, self.connection))
                reading.start()
                pump(self.connection, server)
                reading.join()

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs=QUICK, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}", targets
        proxy.shutdown()
        thread.join()


@pytest.fixture
def office(db: None) -> Iterator[Receiver]:
    """The receiver of a webhook ``office``."""
    with running_receiver() as receiver:
        services.create(name=NAME, url=receiver.url, private=False)
        yield receiver


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the deliveries whose tasks were queued; nothing runs them."""
    ids: list[str] = []

    def send_task(task: str, args: tuple[str], **_: Any) -> None:
        if task == outbox.DELIVER:
            ids.extend(args)

    monkeypatch.setattr(current_app, "send_task", send_task)
    return ids


def create_delivery() -> Delivery:
    """Store the event of a turn that waits for a person, in a session with the webhook."""
    session = Session.objects.create(
        reference=turns.new_reference(), secret_sha256=turns.secret_digest(turns.new_secret())
    )
    outbox.subscribe(session, NAME)
    turn = Turn.objects.create(
        session=session,
        number=1,
        text="My question",
        state="needs_review",
        release_number=1,
        queued_at=timezone.now(),
    )
    outbox.notify(turn)
    return Delivery.objects.get(turn=turn)


def deliver_all() -> None:
    """Run the task of every delivery."""
    for delivery_id in list(Delivery.objects.values_list("pk", flat=True)):
        deliver(str(delivery_id))


def deliver_in_thread(delivery_id: str) -> None:
    """Run the task of a delivery in a thread of a test, and close its connections."""
    try:
        deliver(delivery_id)
    finally:
        connections.close_all()


def is_verified(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Check a signature with the code that ``docs/integrating.md`` shows."""
    page = (Path(settings.BASE_DIR) / "docs" / "integrating.md").read_text(encoding="utf-8")
    [code] = [block for block in page.split("```python\n") if "def is_ours" in block]
    names: dict[str, Any] = {}
    exec(code.partition("```")[0], names)  # noqa: S102  # our own page
    return bool(names["is_ours"](secret, dict(headers), body))

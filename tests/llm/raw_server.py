"""A server of bare sockets: it reads a request and then does whatever a test wants."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class RawServer:
    """``requests`` are the heads and bodies that came; ``over`` is set when the test ends."""

    base_url: str
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


Misbehaviour = Callable[[socket.socket, RawServer], None]


@contextmanager
def raw_server(misbehave: Misbehaviour) -> Iterator[RawServer]:
    """Serve one request a connection: read it, let ``misbehave`` have the socket, close it."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = RawServer(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket) -> None:
        with closing(connection), suppress(OSError):
            server.requests.append(_read(connection))
            misbehave(connection, server)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threads.append(threading.Thread(target=handle, args=(connection,), daemon=True))
                threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield server
    finally:
        server.over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (acceptor, *threads):
            thread.join(5)


def http(
    body: bytes, *, status: str = "200 OK", headers: str = "", length: int | None = None
) -> bytes:
    """Return a whole response; ``length`` lies about the body's."""
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\nConnection: close\r\n{headers}\r\n"
    return head.encode() + body


def chat(content: Any = "{}", **choice: Any) -> bytes:
    """Return the body of a completion with one choice."""
    message = {"role": "assistant", "content": content, **choice.pop("message", {})}
    return json.dumps(
        {"choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}
    ).encode()


def saying(response: bytes) -> Misbehaviour:
    """Return the behaviour of sending ``response``."""

    def send(connection: socket.socket, _server: RawServer) -> None:
        connection.sendall(response)

    return send


def _read(connection: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    size = next(int(line[16:]) for line in lines if line.startswith("content-length: "))
    while len(body) < size:
        body += connection.recv(65536)
    return head.decode(), body

"""A city's site on loopback, from whose pages entries are made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from tests.model_server import QUICK

Reply: TypeAlias = tuple[int, Mapping[str, str], bytes]
HTML = {"Content-Type": "text/html; charset=utf-8"}


def html(title: str, **sections: str) -> bytes:
    """A page with a heading and a paragraph for each section."""
    body = "".join(f"<h2>{h.replace('_', ' ')}</h2><p>{p}</p>" for h, p in sections.items())
    head = f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    intro = "<p>This page of the city says how it is done and who may do it.</p>"
    return f"{head}<body><main><h1>{title}</h1>{intro}{body}</main></body></html>".encode()


RENEW = html(
    "Renew a passport",
    How_to_apply="Fill in the form at the counter of the passport office.",
    Fees="The fee is 80 crowns, paid in cash at the counter.",
)


class City:
    """A server: ``pages`` are replies, or functions that give one, by path."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply | Callable[[], Reply]] = {}
        self.requests: list[tuple[str, str]] = []
        self.headers: list[Mapping[str, str]] = []
        self.sent = 0
        city = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                city.requests.append((self.command, self.path))
                city.headers.append(dict(self.headers))
                reply = city.pages.get(self.path, (404, {}, b""))
                status, headers, body = reply() if callable(reply) else reply
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    for start in range(0, len(body), 65536):
                        self.wfile.write(body[start : start + 65536])
                        city.sent += 65536
                except OSError:
                    return  # the reader has had enough

            def log_message(self, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}"

    def page(self, path: str, body: bytes = RENEW, **headers: str) -> str:
        """Put a page at a path; return its address."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = (200, {**HTML, **named}, body)
        return self.url + path

    def asked(self, path: str) -> int:
        return self.requests.count(("GET", path))


@contextmanager
def running_city() -> Iterator[City]:
    """Run a site until the block ends."""
    city = City()
    thread = threading.Thread(target=city.server.serve_forever, kwargs=QUICK, daemon=True)
    thread.start()
    try:
        yield city
    finally:
        city.server.shutdown()
        city.server.server_close()
        thread.join()

"""Sites on loopback to which the knowledge links."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.model_server import QUICK


class Site:
    """A server of pages: ``answers`` is the status and the ``Location`` by path."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, str]] = {}
        self.requests: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                site.requests.append(f"{self.command} {self.path}")
                status, location = site.answers.get(self.path, (200, ""))
                if self.path.endswith("-no-head") and self.command == "HEAD":
                    status = 405
                self.send_response(status)
                if location:
                    self.send_header("Location", location)
                self.end_headers()

            do_GET = do_HEAD  # noqa: N815  # as the server calls it

            def log_message(self, *args: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@contextmanager
def running_site() -> Iterator[Site]:
    """Run a site until the block ends."""
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs=QUICK, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()
        thread.join()

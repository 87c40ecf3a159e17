"""A time-stamping authority: openssl behind HTTP, with a certificate of a root of its own."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
EXTENSIONS = "extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n"
CONFIGURATION = """
[tsa]
default_tsa = ours
[ours]
serial = serial
crypto_device = builtin
signer_cert = tsa.pem
certs = root.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
"""


class Openssl:
    """A folder with the authority's keys; ``root`` is its root's certificate (PEM)."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.root, self.url = folder, folder / "root.pem", ""
        self.refuses = False
        (folder / "extensions").write_text(EXTENSIONS)
        (folder / "configuration").write_text(CONFIGURATION)
        (folder / "serial").write_text("01\n")
        self.run("req", "-x509", *KEY, "-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=R")
        self.run("req", *KEY, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=TSA")
        by_root = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial")
        self.run(
            *("x509", "-req", "-in", "tsa.csr", *by_root),
            *("-extfile", "extensions", "-out", "tsa.pem"),
        )

    def run(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def answer(self, request: bytes) -> bytes:
        (self.folder / "request").write_bytes(request)
        asked = ("-queryfile", "request", "-config", "configuration")
        self.run("ts", "-reply", *asked, "-out", "answer")
        return (self.folder / "answer").read_bytes()


@contextmanager
def authority(folder: Path) -> Iterator[Openssl]:
    """Let an authority answer at its ``url``, with 503 while it ``refuses``."""
    openssl = Openssl(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(503 if openssl.refuses else 200)
            self.end_headers()
            self.wfile.write(openssl.answer(body))

        def log_message(self, *args: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        openssl.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield openssl
        finally:
            server.shutdown()
            thread.join()

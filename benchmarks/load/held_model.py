"""The offline engine over HTTP, slow on purpose: what ``bench_waiting.py`` lets turns wait for.

    python -m benchmarks.load.held_model DELAY

Every answer comes DELAY seconds late, and the calls of the last stages can be held for as long as
one likes. So many turns wait at the same time, however slowly they come one after another: each has
four calls under way then, the most that a usual turn waits for. (Asked ahead, its first phase has
three; five are out between the two, where judgement_v1 is answered before what was asked ahead.)
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from ieim.llm.server import App, Receive, Scope, Send, offline_app, serve

ROOT = Path(__file__).resolve().parents[2]
LAST = ("service_select_v1", "classify", "extract", "identity_assist")
"""What is asked last, all four beside each other."""
MARKS = tuple(rf"\"contract\":\"{name}\"".encode() for name in LAST)
"""How a body says so: its last message is JSON in JSON."""


def held_app(delay: float) -> App:
    """Return the ASGI application. ``POST /v1/hold`` and ``/v1/release`` say what to do with calls
    of the last stages, ``GET /v1/held`` how many are held."""
    engine = offline_app(delay=delay)
    free = asyncio.Event()
    free.set()
    held = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal held
        if scope["type"] != "http":
            return
        what = scope["path"].removeprefix("/v1/")
        if what in ("hold", "release", "held"):
            if what == "hold":
                free.clear()
            elif what == "release":
                free.set()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": str(held).encode()})
            return
        body, more = b"", True
        while more:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        if any(mark in body for mark in MARKS):
            held += 1
            await free.wait()
            held -= 1

        async def again() -> dict[str, object]:
            return {"type": "http.request", "body": body}

        await engine(scope, again, send)

    return app


class Held:
    """The running model, from outside."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def hold(self) -> None:
        """Answer no call of the last stages from now on."""
        httpx2.post(f"{self.base_url}/hold", timeout=60)

    def release(self) -> None:
        """Answer all of them."""
        httpx2.post(f"{self.base_url}/release", timeout=60)

    @property
    def calls(self) -> int:
        """How many calls are held."""
        return int(httpx2.get(f"{self.base_url}/held", timeout=60).text)


@contextmanager
def model(delay: float) -> Iterator[Held]:
    """Serve it from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.load.held_model", str(delay)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            yield Held(server.stdout.readline().decode().strip())
        finally:
            server.terminate()


if __name__ == "__main__":
    serve(
        held_app(float(sys.argv[1])),
        host="127.0.0.1",
        port=0,
        ready=lambda url: print(url, flush=True),
    )

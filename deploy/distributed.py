"""A whole installation on this machine, to try: ``make run-distributed``.

Two web processes, two workers, beat, and a PostgreSQL and a Redis of its own, on loopback ports.
Ctrl-C ends all of them, and what they stored goes with them. Where one ends by itself, all do, and
so they do where this process or the one that started it is killed.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event

import django
import httpx2

import ieim.config  # noqa: F401  # names the settings, and reads .env
from tests.services import ended_with_us, services

ROOT = Path(__file__).resolve().parent.parent

PATIENCE = 30.0
"""Seconds in which a process has to end by itself."""

_WEB = (
    *("uvicorn", "ieim.config.asgi:application", "--host", "127.0.0.1"),
    *("--loop", "uvloop", "--http", "httptools", "--ws", "websockets-sansio"),
    *("--ws-max-size", "16384", "--ws-per-message-deflate", "false", "--no-proxy-headers"),
    *("--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "2"),
)
_CELERY = ("celery", "--quiet", "-A", "ieim.config")
_ENVIRONMENT = {
    # Whatever a file .env says: the accounts are public.
    "IEIM_ENV": "development",
    "IEIM_PUBLIC_URL": "",
    "IEIM_ALLOWED_HOSTS": "",
    "PYTHONUNBUFFERED": "1",
}


def main() -> None:
    """Run everything until Ctrl-C; exit with 1 where a process has ended by itself."""
    over, parent = Event(), os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: over.set())
    first = int(os.environ.get("PORT") or 8000)
    ports = (first, first + 1)
    for port in ports:
        _require_free(port)
    with ExitStack() as stack:
        print("Starting PostgreSQL and Redis ...", flush=True)
        os.environ |= stack.enter_context(services()) | _ENVIRONMENT
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ieim-"))
        accounts = _prepare()
        commands = {
            **{f"web {port}": [*_WEB, "--port", str(port)] for port in ports},
            **{f"worker {n}": [*_CELERY, "worker", "-P", "threads", "-n", str(n)] for n in (1, 2)},
            "beat": [*_CELERY, "beat", "--schedule", f"{folder}/beat", "--pidfile="],
        }
        running = stack.enter_context(_running(commands))
        urls = [f"http://127.0.0.1:{port}/" for port in ports]
        while not over.wait(0.2) and not _ended(running) and os.getppid() == parent:
            if accounts and all(map(_is_ready, urls)):
                chat = [f"  Chat         {url}" for url in urls]
                staff = [f"  Staff pages  {urls[0]}staff/", ""]
                print("\n".join(["", *chat, *staff, *accounts]), flush=True)
                print("\n  Ctrl-C ends everything, and nothing is kept.\n", flush=True)
                accounts = []
        ended = _ended(running)
    if ended:
        sys.exit(f"Everything has ended, because this did by itself: {', '.join(ended)}")
    print("Everything has ended.", flush=True)


def _require_free(port: int) -> None:
    """End with a message where something listens on a port already."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except (OSError, OverflowError) as error:
        sys.exit(
            f"Port {port} cannot be used ({error}). Stop what uses it, or choose two others: "
            "PORT=8100 make run-distributed"
        )


def _prepare() -> list[str]:
    """Fill the database; return the lines that tell of the accounts in it."""
    django.setup()
    from ieim.config.management.commands import serve

    serve.prepare(sys.stdout)
    return serve.accounts()


@contextmanager
def _running(
    commands: Mapping[str, Sequence[str]],
) -> Iterator[Mapping[str, subprocess.Popen[bytes]]]:
    """Run Python modules by name until the block ends; all of them are asked to end at once."""
    running: dict[str, subprocess.Popen[bytes]] = {}
    watchers = ExitStack()
    try:
        for name, arguments in commands.items():
            # A session of its own: Ctrl-C reaches this process alone, which ends the others.
            running[name] = subprocess.Popen(
                [sys.executable, "-m", *arguments], cwd=ROOT, start_new_session=True
            )
            watchers.enter_context(ended_with_us(running[name].pid))
        yield running
    finally:
        watchers.close()
        for process in running.values():
            process.terminate()
        for process in running.values():
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ended(running: Mapping[str, subprocess.Popen[bytes]]) -> list[str]:
    return [name for name, process in running.items() if process.poll() is not None]


def _is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}readyz", timeout=2, trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


if __name__ == "__main__":
    main()

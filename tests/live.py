"""The real server as a process of its own, for tests that go through the front door."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from tests.services import free_port, wait_for_port

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60.0
STOP_SECONDS = 10.0


def base_environment(folder: Path) -> dict[str, str]:
    """This process's environment for a child that keeps its data in ``folder``."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "ieim.config.settings",
        "IEIM_DATA_DIR": str(folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }


@contextmanager
def process(
    arguments: list[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``python -m ARGUMENTS``, its output into ``log``, until the block ends."""
    with log.open("wb") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
            try:
                child.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the site with the demo knowledge; yields its base URL without a final slash.

    It has a database of its own: SQLite in ``folder``, or a new one on the PostgreSQL server of
    ``DATABASE_URL``. Where ``REDIS_URL`` is set, a worker with beat runs beside it.
    """
    environment = base_environment(folder)
    distributed = bool(environment.get("REDIS_URL"))
    if database := environment.get("DATABASE_URL"):
        environment["DATABASE_URL"] = _new_database(database)
    if distributed:
        # Not the queue that the suite's own code fills.
        environment["REDIS_URL"] = environment["REDIS_URL"].rpartition("/")[0] + "/1"
    port = free_port()
    with ExitStack() as stack:
        log = folder / "server.log"
        server = stack.enter_context(
            process(["django", "serve", "--port", str(port)], environment, log)
        )
        base_url = f"http://127.0.0.1:{port}"
        try:
            # The port is taken at once; the answer comes when everything is ready.
            wait_for_port(port, server)
            urllib.request.urlopen(f"{base_url}/admin/login/", timeout=READY_SECONDS).close()
        except (RuntimeError, OSError) as error:
            said = log.read_text(encoding="utf-8")
            raise RuntimeError(f"The server did not start ({error}):\n{said}") from error
        if distributed:
            worker = "celery -A ieim.config worker --beat --pool threads --concurrency 4 --schedule"
            stack.enter_context(
                process([*worker.split(), str(folder / "beat")], environment, folder / "worker.log")
            )
        yield base_url


def _new_database(url: str) -> str:
    name = f"site_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"{url.rpartition('/')[0]}/{name}"

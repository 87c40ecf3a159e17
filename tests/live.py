"""The real server as a process of its own, for tests that go through the front door."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import psycopg

from tests.services import free_port, wait_for_port

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 240.0
"""How long the first page may take: it comes once the database is made and the demo is published,
some twenty seconds alone and many times that beside the rest of the suite."""
STOP_SECONDS = 10.0


def base_environment(folder: Path) -> dict[str, str]:
    """This process's environment for a child that keeps its data in ``folder``."""
    return {
        **os.environ,
        "IEIM_LINK_CHECK": "false",
        "IEIM_EMBEDDINGS": "none",  # a second at the start of each process
        "DJANGO_SETTINGS_MODULE": "ieim.config.settings",
        "IEIM_DATA_DIR": str(folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        # All visitors of a test come from one address.
        "IEIM_ADDRESS_RATE": "none",
        "IEIM_ADDRESS_SOCKETS": "0",
        "IEIM_QUESTIONS_RATE": "none",
        "IEIM_API_SESSIONS_RATE": "none",
    }


@contextmanager
def process(
    arguments: list[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``python -m ARGUMENTS``, its output into ``log``, until the block ends.

    Whatever it has started ends with it: Celery's beat is a process of its own.
    """
    with log.open("wb") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                child.wait(timeout=STOP_SECONDS)
            kill(child)


def kill(child: subprocess.Popen[bytes]) -> None:
    """End at once what :func:`process` runs, and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


_folder = tempfile.TemporaryDirectory(prefix="ieim-")
PREPARED = Path(_folder.name) / "prepared.sqlite3"
"""Schema, demo knowledge and accounts: made by the first site of a run, copied by the others."""


def keep(database: Path) -> None:
    """Copy a database that is in use to :data:`PREPARED`."""
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(PREPARED)) as copy:
        source.backup(copy)


REDIS_DATABASES_PER_WORKER = 50
_sites = itertools.count(1)


class Site:
    """The running site: one server process and, where ``REDIS_URL`` is set, a worker with beat.

    ``extra`` are further environment variables; ``{base_url}`` in one is this site's. It
    has a database of its own: SQLite in ``folder``, or a new one on the PostgreSQL server of
    ``DATABASE_URL``.
    """

    def __init__(self, stack: ExitStack, folder: Path, extra: Mapping[str, str]) -> None:
        self._stack = stack
        self._folder = folder
        self._port = free_port()
        self.base_url = f"http://127.0.0.1:{self._port}"
        own = {name: value.replace("{base_url}", self.base_url) for name, value in extra.items()}
        self._environment = {**base_environment(folder), **own}
        if database := self._environment.get("DATABASE_URL"):
            self._environment["DATABASE_URL"] = _new_database(database)
        self._distributed = bool(self._environment.get("REDIS_URL"))
        if self._distributed:
            # A queue of its own: another site's worker would take a turn that its database lacks.
            # (The first number of the worker that runs the tests is for the tests themselves.)
            server, _, first = self._environment["REDIS_URL"].rpartition("/")
            self._environment["REDIS_URL"] = f"{server}/{int(first) + next(_sites)}"

    def start(self) -> None:
        """Start the server, and the worker where it is a process of its own."""
        own = self._folder / "ieim.sqlite3"
        on_sqlite = not self._environment.get("DATABASE_URL")
        if on_sqlite and PREPARED.exists() and not own.exists():
            shutil.copyfile(PREPARED, own)
        self._runs_turns = self._server = self._start_server()
        if on_sqlite and not PREPARED.exists():
            keep(own)
        if self._distributed:
            self._runs_turns = self._start_worker()

    @property
    def database(self) -> str:
        """Where its database is: a PostgreSQL address, or SQLite's file."""
        return self._environment.get("DATABASE_URL") or str(self._folder / "ieim.sqlite3")

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables of its processes."""
        return self._environment

    @property
    def server_pid(self) -> int:
        """The process that serves pages, REST and sockets."""
        return self._server.pid

    @property
    def worker_pid(self) -> int:
        """The process that runs turns."""
        return self._runs_turns.pid

    def manage(self, *arguments: str) -> None:
        """Run a management command in the site's database."""
        command = [sys.executable, "-m", "django", *arguments]
        subprocess.run(command, cwd=ROOT, env=self._environment, check=True, capture_output=True)

    def kill_worker(self) -> None:
        """End the process that runs turns at once, as a crash would."""
        kill(self._runs_turns)

    def start_again(self) -> None:
        """Start that process again."""
        start = self._start_worker if self._distributed else self._start_server
        self._runs_turns = start()

    def _start_server(self) -> subprocess.Popen[bytes]:
        log = self._folder / "server.log"
        arguments = ["django", "serve", "--port", str(self._port)]
        server = self._stack.enter_context(process(arguments, self._environment, log))
        try:
            # The port is taken at once; the answer comes when everything is ready.
            wait_for_port(self._port, server)
            urllib.request.urlopen(f"{self.base_url}/help/", timeout=READY_SECONDS).close()
        except (RuntimeError, OSError) as error:
            text = log.read_text(encoding="utf-8")
            raise RuntimeError(f"The server did not start ({error}):\n{text}") from error
        return server

    def _start_worker(self) -> subprocess.Popen[bytes]:
        worker = "celery -A ieim.config worker --beat --pool threads --schedule"
        arguments = [*worker.split(), str(self._folder / "beat")]
        log = self._folder / "worker.log"
        return self._stack.enter_context(process(arguments, self._environment, log))


@contextmanager
def site(folder: Path, **extra: str) -> Iterator[Site]:
    """Run the site with the demo knowledge, its data and logs in ``folder``."""
    with ExitStack() as stack:
        running = Site(stack, folder, extra)
        running.start()
        yield running


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Run the site; yields its base URL without a final slash."""
    with site(folder) as running:
        yield running.base_url


def _new_database(url: str) -> str:
    name = f"site_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"{url.rpartition('/')[0]}/{name}"

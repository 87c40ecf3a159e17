"""Every process that a run starts ends with it: what is left over is named, ended, and a failure.

A run puts a mark into its environment, which all its descendants inherit, however far they have
gone from it. A run within a run (``make test`` starts pytest) adds to the mark.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MARK = "IEIM_TEST_RUN"
PATIENCE = 5.0
"""Seconds for what is about to end."""


def mark() -> str:
    """Mark this process's children from now on; returns the mark."""
    own = "/".join(filter(None, [os.environ.get(MARK), secrets.token_hex(8)]))
    os.environ[MARK] = own
    return own


def running(mark: str) -> dict[int, str]:
    """Return the command lines of the marked processes by id; none where there is no ``/proc``."""
    fields = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile, or is somebody else's
        marks = [v.removeprefix(f"{MARK}=".encode()).decode() for v in environment]
        marked = any(result == mark or result.startswith(f"{mark}/") for result in marks)
        if marked and command and int(folder.name) != os.getpid():
            fields[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return fields


def end(mark: str, *, patience: float | None = None) -> list[str]:
    """Wait for the marked processes, end those that stay, and return a line about each."""
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    pause = threading.Event()
    while running(mark) and time.monotonic() < deadline:
        pause.wait(0.05)
    lines = []
    for pid, command in running(mark).items():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        lines.append(f"{pid}: {command}")
    return lines


def stop(mark: str) -> None:
    """Ask the marked processes to end: who started servers ends them only then."""
    for pid in running(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def pytest_configure() -> None:
    """Tidy up on SIGTERM as on Ctrl-C."""
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("ended by SIGTERM", 143))


@pytest.fixture(scope="session", autouse=True)
def _ends_what_it_starts() -> Iterator[None]:
    """Fail where a test's process outlives the run."""
    own = mark()
    yield
    if left := end(own):
        pytest.fail("Processes of the tests had not ended (they have now):\n" + "\n".join(left))

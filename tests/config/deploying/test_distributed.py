"""``make run-distributed``: everything starts, and nothing is left when it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import live
from tests.checks import ROOT, clean_environment
from tests.services import free_port, postgres_bin

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(postgres_bin() is None, reason="PostgreSQL is not installed"),
]


@contextmanager
def distributed() -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Run it; yields the process once it is ready, and the addresses of its chat pages."""
    environment = clean_environment() | {"PORT": str(free_port()), "IEIM_EMBEDDINGS": "none"}
    with subprocess.Popen(
        [sys.executable, "-m", "deploy.distributed"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        late = threading.Timer(live.READY_SECONDS, process.terminate)
        late.start()
        assert process.stdout is not None
        try:
            chats = []
            for line in process.stdout:
                chats += [line.split()[1]] if "Chat" in line else []
                if "Ctrl-C" in line:
                    break
            yield process, chats
        finally:
            process.terminate()
            process.wait(60)
            late.cancel()


def parts(pid: int) -> dict[int, str]:
    """Return the command lines of what it runs, by process, also of what is no child of its own.

    Its children that are shells watch over these.
    """
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    commands = [Path(f"/proc/{child}/cmdline").read_text().split("\0") for child in children]
    watched = [int(command[-2]) for command in commands if command[0] == "sh"]
    return {part: Path(f"/proc/{part}/cmdline").read_text() for part in watched}


def wait_until_gone(pids: Iterable[int]) -> None:
    deadline, pause = time.monotonic() + 60, threading.Event()
    while remaining := [pid for pid in pids if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < deadline, remaining
        pause.wait(0.2)


def test_it_answers_on_both_and_ends_by_ctrl_c() -> None:
    with distributed() as (process, chats):
        assert len(chats) == 2
        for chat in chats:
            with urllib.request.urlopen(f"{chat}readyz", timeout=60) as answer:
                assert answer.status == 200
        child_pids = parts(process.pid)
        assert len(child_pids) == 7, "two web processes, two workers, beat, Redis, PostgreSQL"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    wait_until_gone(child_pids)


def test_it_ends_when_a_part_ends() -> None:
    with distributed() as (process, _):
        web = [pid for pid, command in parts(process.pid).items() if "uvicorn" in command]
        os.kill(web[0], signal.SIGKILL)
        assert process.wait(60) == 1


def test_nothing_is_left_where_it_is_killed() -> None:
    with distributed() as (process, _):
        own = parts(process.pid)
        process.kill()
        wait_until_gone(own)


def test_a_port_in_use_is_told_before_anything_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "deploy.distributed"],
            cwd=ROOT,
            env=clean_environment() | {"PORT": port},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 1
    assert f"Port {port} cannot be used" in done.stderr
    assert done.stdout == ""

"""``make run-distributed``: everything starts, and nothing is left when it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.checks import ROOT, clean_environment
from tests.services import free_port, postgres_bin

pytestmark = [
    pytest.mark.whole,
    pytest.mark.timeout(300),
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
        late = threading.Timer(100, process.terminate)
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


def children(pid: int) -> list[int]:
    """Return the processes that one has started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:  # noqa: PTH123
        return [int(child) for child in file.read().split()]


def test_it_answers_on_both_and_ends_by_ctrl_c() -> None:
    with distributed() as (process, chats):
        assert len(chats) == 2
        for chat in chats:
            with urllib.request.urlopen(f"{chat}readyz", timeout=10) as answer:
                assert answer.status == 200
        child_pids = children(process.pid)
        assert len(child_pids) >= 6, "two web processes, two workers, beat, Redis"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert not [pid for pid in child_pids if os.path.exists(f"/proc/{pid}")]  # noqa: PTH110


def test_it_ends_when_a_part_ends() -> None:
    with distributed() as (process, _):
        web = children(process.pid)[1]  # the first is Redis
        os.kill(web, signal.SIGKILL)
        assert process.wait(60) == 1

"""No process outlives the tests that started it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import processes
from tests.live import base_environment, process

ROOT = Path(__file__).resolve().parents[2]
LEAVES = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session={away})"

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv(processes.MARK, os.environ[processes.MARK])
    mark = processes.mark()
    yield mark
    processes.end(mark, patience=0)


def test_a_process_ends_with_all_that_it_has_started(mark: str, tmp_path: Path) -> None:
    leaving = ["timeit", "-n1", "-r1", LEAVES.format(away=False)]
    with process(leaving, base_environment(tmp_path), tmp_path / "log") as child:
        child.wait()
        assert list(processes.running(mark).values()) == ["sleep 600"]
    assert processes.end(mark) == []


def test_it_names_and_ends_what_is_left_and_nothing_else(mark: str) -> None:
    with subprocess.Popen(["sleep", "600"], env={processes.MARK: "of another run"}) as other:
        subprocess.run([sys.executable, "-c", LEAVES.format(away=True)], check=True)
        [pid] = processes.running(mark)
        assert processes.end(mark, patience=0) == [f"{pid}: sleep 600"]
        assert processes.end("of another", patience=0) == []
        assert other.poll() is None
        other.kill()

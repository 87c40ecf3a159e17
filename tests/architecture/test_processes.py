"""No process outlives what has started it."""

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


def test_it_names_and_ends_what_is_left(mark: str) -> None:
    subprocess.run([sys.executable, "-c", LEAVES.format(away=True)], check=True)
    [pid] = processes.running(mark)
    assert processes.end(mark, patience=0) == [f"{pid}: sleep 600"]
    assert processes.end(mark) == []


def test_it_ends_nobody_elses() -> None:
    with subprocess.Popen(["sleep", "600"], env={processes.MARK: "of another run"}) as other:
        assert processes.end("of another", patience=0) == []
        assert other.poll() is None
        other.kill()


def run(test: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run pytest over a test of this ``code``, without what only the real ones need."""
    test.write_text(f"def test_it():\n    {code}\n", encoding="utf-8")
    plugins = ["-p", "no:django", "-p", "no:cacheprovider", "-p", "tests.processes"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, *plugins, str(test)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_a_run_that_leaves_a_process_fails(mark: str, tmp_path: Path) -> None:
    done = run(tmp_path / "test_leaving.py", LEAVES.format(away=True))
    assert done.returncode == 1
    assert "1 passed, 1 error" in done.stdout
    assert ": sleep 600" in done.stdout


def test_a_run_that_is_ended_ends_what_it_has_started(mark: str, tmp_path: Path) -> None:
    ended = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    done = run(tmp_path / "test_ended.py", f"{LEAVES.format(away=True)}; {ended}")
    assert done.returncode != 0
    assert processes.end(mark, patience=0) == []

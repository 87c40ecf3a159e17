"""`make test` itself: what it says of its steps."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import checks, processes
from tests.checks import Step


def python(title: str, code: str, **env: str) -> Step:
    return Step(title, (sys.executable, "-c", code), env)


def test_it_runs_steps_at_once_and_tells_of_them_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "LANES", 2)
    # Each waits for the other.
    meet = "import pathlib as p; a, b = map(p.Path, {}); a.touch()\nwhile not b.exists(): pass"
    files = [str(tmp_path / name) for name in ("one", "two")]
    steps = [
        python("first", f"{meet.format(files)}\nprint('hello')"),
        python("second", f"{meet.format(files[::-1])}\nraise SystemExit(3)"),
    ]
    done = list(checks.run_all(steps, {}))
    assert [(each.step.title, each.said, each.failed) for each in done] == [
        ("first", "hello\n", False),
        ("second", "", True),
    ]


def test_it_names_what_failed_and_each_steps_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    leaves = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)"
    steps = (python("Good", leaves), python("Bad", "raise SystemExit(1)"))
    monkeypatch.setattr(checks, "STEPS", steps)
    monkeypatch.setattr(checks, "lacking", list)
    monkeypatch.setattr(processes, "PATIENCE", 0.0)
    monkeypatch.setenv(processes.MARK, "checks")
    ours = signal.getsignal(signal.SIGTERM)
    try:
        assert checks.main() == 1
    finally:
        signal.signal(signal.SIGTERM, ours)
    said = capsys.readouterr().out
    assert re.search(r"^\d+ min +\d+ s  Good$", said, flags=re.MULTILINE)
    assert "FAILED  Bad" in said
    assert "had not ended" in said
    assert "sleep 600" in said


def test_the_quick_check_needs_nothing_of_the_machine() -> None:
    assert not any(step.needs for step in checks.QUICK)
    titles = [step.title.partition(" ")[0] for step in checks.QUICK]
    assert titles == ["Lint", "Format", "Types", "Import", "Missing", "Tests"]
    assert all(step in checks.STEPS for step in checks.QUICK[:-1])


def test_it_starts_the_long_steps_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LANES", 1)
    begun: list[str] = []

    def run(step: Step, environment: Mapping[str, str]) -> checks.Done:
        begun.append(step.title)
        return checks.Done(step, "", 0.0, failed=False)

    monkeypatch.setattr(checks, "run", run)
    steps = [Step("quick", ()), *checks.parts("Suite", ())]
    assert [done.step for done in checks.run_all(steps, {})] == steps
    assert begun == [step.title for step in [*steps[1:], steps[0]]]


def test_the_parts_of_a_suite_are_the_whole_of_it(tmp_path: Path) -> None:
    files = {tmp_path / f"{each % 5}" / f"test_{each}.py" for each in range(13)}
    for number, file in enumerate(files):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b" " * number)
    steps = list(checks.parts("Some", ("pytest",)))
    assert len({step.title for step in steps}) == len(steps) == checks.PARTS
    asked = [step.command[-1].removeprefix("--part=") for step in steps]
    parts = [checks.dealt(files, part) for part in asked]
    assert sorted(each for part in parts for each in part) == sorted(files)
    # A folder's files share what is made once a run.
    folders = [{each.parent for each in part} for part in parts]
    assert all(folders)
    assert not set.intersection(*folders)


def test_a_run_reads_the_files_of_its_part_alone(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, files = request.config, set((checks.ROOT / "tests").rglob("test_*.py"))
    browser = {file for file in files if "browser" in file.parts}
    for number in range(1, checks.PARTS + 1):
        part = f"{number}/{checks.PARTS}"
        monkeypatch.setattr(config.option, "part", part)
        ignored = config.hook.pytest_ignore_collect
        read = {file for file in files if not ignored(collection_path=file, config=config)}
        assert read == checks.dealt(files - browser, part) | checks.dealt(browser, part)


def test_temporary_files_go_to_memory_where_it_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "MEMORY", tmp_path)
    monkeypatch.setattr(checks, "ROOM", 1)
    assert checks.scratch() == str(tmp_path)
    monkeypatch.setattr(checks, "ROOM", 2**63)
    assert checks.scratch() is None
    monkeypatch.setattr(checks, "MEMORY", tmp_path / "no")
    assert checks.scratch() is None


def test_a_step_keeps_its_temporary_files_in_a_folder_that_ends_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "scratch", lambda: str(tmp_path))
    said = tmp_path / "said"
    code = f"import pathlib, tempfile; pathlib.Path({str(said)!r}).write_text(tempfile.mkdtemp())"
    assert checks.main([Step("Somewhere", (sys.executable, "-c", code))]) == 0
    folder = Path(said.read_text())
    assert folder.is_relative_to(tmp_path)
    assert not folder.parent.exists()

"""`make test-changed`: which tests a change needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from tests import changed


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*changed.CODE, "tests", cache_dir=None)


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_it_sees_what_is_committed_changed_moved_and_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--initial-branch", "main")
    for name in ("same", "committed", "edited", "moved"):
        (tmp_path / name).write_text(f"{name}\n" * 5, encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--message", "First")
    git(tmp_path, "switch", "--create", "branch")
    (tmp_path / "committed").write_text("else\n", encoding="utf-8")
    git(tmp_path, "mv", "moved", "there")
    git(tmp_path, "commit", "--all", "--message", "Second")
    (tmp_path / "edited").write_text("else\n", encoding="utf-8")
    (tmp_path / "new").touch()
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    assert changed.changes() == ["committed", "edited", "moved", "new", "there"]


@pytest.mark.parametrize(
    ("path", "test", "why"),
    [
        ("review/item/page.py", "tests/review/item/test_page.py", "mirrors"),
        ("ieim/pipeline/gate/strict_json.py", "tests/pipeline/test_runner.py", "imports"),
        ("tests/review/desk.py", "tests/review/item/test_decide.py", "imports"),
        ("tests/architecture/test_changed.py", "tests/architecture/test_changed.py", "imports"),
        ("templates/review/item.html", "tests/review/test_words.py", "mirrors"),
        ("deploy/compose.yaml", "tests/config/test_compose.py", "names"),
    ],
)
def test_it_finds_the_tests_of_a_change(
    path: str, test: str, why: str, graph: grimp.ImportGraph
) -> None:
    wanted = changed.select([path], graph)
    assert wanted[test] == f"{why} {path}"
    assert len(wanted) < len(list((changed.ROOT / "tests").rglob("test_*.py")))


def test_a_folders_conftest_changes_the_folder(graph: grimp.ImportGraph) -> None:
    wanted = changed.select(["tests/audit/conftest.py"], graph)
    folder = changed.ROOT / "tests" / "audit"
    assert set(wanted) >= {f"tests/audit/{path.name}" for path in folder.glob("test_*.py")}


@pytest.mark.parametrize(
    "path",
    ["tests/conftest.py", "pyproject.toml", "ieim/config/settings.py", "review/migrations/0002.py"],
)
def test_a_shared_file_changes_everything(path: str) -> None:
    assert changed.everything(["README.md", path]) == f"{path} changed, which all tests share"


def test_other_files_do_not(graph: grimp.ImportGraph) -> None:
    unknown = "docs/nobody-" + "knows.md"
    assert changed.everything([unknown, "review/item/page.py"]) is None
    assert changed.select([unknown], graph) == {}


def test_it_says_what_it_runs_and_why(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(changed, "changes", lambda: ["static/src/js/chat/asking.js"])
    monkeypatch.setattr(changed, "PYTEST", (sys.executable, "-c", "import sys; print(sys.argv)"))
    assert changed.main() == 0
    said = capfd.readouterr().out
    assert "tests/browser/chat/test_chat.py  mirrors static/src/js/chat/asking.js\n" in said
    (run,) = [line for line in said.splitlines() if line.startswith("['-c', '-m', 'browser',")]
    assert "'tests/browser/chat/test_cards.py'" in run
    monkeypatch.setattr(changed, "changes", list)
    assert changed.main() == 0
    assert "0 files differ from main: 0 test files." in capfd.readouterr().out

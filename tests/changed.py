"""The tests that a change needs, by path: python -m tests.changed

What differs from main, committed or not, is a change. A test file is run where its imports, or
those of its folder's conftest.py, lead to a changed module, where it lies in the folder that
mirrors the changed file's, or where it names a changed file that is no module. A shared file
changes everything.

What a test reaches only by an address or a fixture is not seen: `make test` has the last word.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest", "--quiet")
CODE = ("ieim", "conversations", "review", "benchmarks")
SHARED = (
    *("pyproject.toml", "package.json", "package-lock.json", "requirements/", "manage.py"),
    *("tests/conftest.py", "tests/fixtures.py", "tests/processes.py", "tests/services.py"),
    *("ieim/config/settings.py", "ieim/config/environment/", "templates/base"),
)
MIRRORED = {
    "templates/conversations/": ("tests/conversations/chat", "tests/browser/chat"),
    "templates/review/": ("tests/review", "tests/browser/review"),
    "templates/knowledge/": ("tests/knowledge", "tests/studio", "tests/browser/studio"),
    "templates/studio/": ("tests/studio", "tests/browser/studio"),
    "static/": ("tests/browser",),
}
"""Where a folder's tests are, when not in the one of its name."""

Wanted = Mapping[str, str]
"""Test files, each with why it is run."""


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def changes() -> list[str]:
    """What differs from main, as paths; of a file that was renamed both."""
    (base,) = _git("merge-base", "HEAD", "main")
    tracked = _git("diff", "--name-only", "--no-renames", base)
    return sorted({*tracked, *_git("ls-files", "--others", "--exclude-standard")})


def everything(paths: Iterable[str]) -> str | None:
    """Why all tests are to be run, if they are."""
    for path in paths:
        if path.startswith(SHARED) or "/migrations/" in path:
            return f"{path} changed, which all tests share"
    return None


def _tests_below(folder: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / folder).rglob("test_*.py"))]


def _mirrored(path: str) -> tuple[str, ...]:
    for prefix, folders in MIRRORED.items():
        if path.startswith(prefix):
            return folders
    parts = path.removeprefix("ieim/").split("/")[:-1]
    while parts and not (ROOT / "tests" / Path(*parts)).is_dir():
        parts.pop()
    return (str(Path("tests", *parts)),) if parts and path.startswith(CODE) else ()


def _importing(path: str, graph: grimp.ImportGraph) -> Iterable[str]:
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if not path.endswith(".py") or module not in graph.modules:
        return
    for each in {module, *graph.find_downstream_modules(module)}:
        file = each.replace(".", "/") + ".py"
        if file.endswith("/conftest.py"):
            yield from _tests_below(file.removesuffix("/conftest.py"))
        elif file.rpartition("/")[2].startswith("test_"):
            yield file


def select(paths: Iterable[str], graph: grimp.ImportGraph) -> Wanted:
    """The test files that these changes need."""
    wanted: dict[str, str] = {}
    texts = {test: (ROOT / test).read_text(encoding="utf-8") for test in _tests_below("tests")}
    for path in paths:
        mirrored = [test for folder in _mirrored(path) for test in _tests_below(folder)]
        wanted |= dict.fromkeys(mirrored, f"mirrors {path}") | wanted
        wanted |= dict.fromkeys(_importing(path, graph), f"imports {path}") | wanted
        if not path.endswith(".py"):
            naming = [test for test, text in texts.items() if Path(path).name in text]
            wanted |= dict.fromkeys(naming, f"names {path}") | wanted
    return {test: wanted[test] for test in sorted(wanted) if (ROOT / test).exists()}


def main() -> int:
    """Say what is run and why, then run it; returns 0 when nothing failed."""
    paths = changes()
    if why := everything(paths):
        wanted: Wanted = dict.fromkeys(_tests_below("tests"), why)
        print(f"Everything: {why}.")
    else:
        wanted = select(paths, grimp.build_graph(*CODE, "tests", cache_dir=None))
        print("\n".join(f"{test}  {reason}" for test, reason in wanted.items()))
    print(f"{len(paths)} files differ from main: {len(wanted)} test files.", flush=True)
    browser = [test for test in wanted if test.startswith("tests/browser/")]
    others = [test for test in wanted if test not in browser]
    commands = [[*PYTEST, *others]] if others else []
    commands += [[*PYTEST, "-m", "browser", *browser]] if browser else []
    return max((subprocess.run(each, cwd=ROOT).returncode for each in commands), default=0)


if __name__ == "__main__":
    sys.exit(main())

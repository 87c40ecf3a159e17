"""What the house keeps to, held by tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings

from conversations.turns import moves

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = ("ieim", "conversations", "review")
LONGEST = 300

# The core is given the time, the network and the environment; it does not reach for them.
IMPURE = {
    "asyncio",
    "http",
    "os",
    "random",
    "secrets",
    "socket",
    "ssl",
    "subprocess",
    "time",
    "uuid",
}


def python_files(*folders: str) -> Iterator[Path]:
    """Our Python files below ``folders``, without migrations."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def imported(path: Path) -> Iterator[str]:
    """The top-level packages that ``path`` imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_it_keeps_the_layers() -> None:
    lint = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_keeps_files_short() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*CODE, "tests", "benchmarks", "deploy")
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_it_keeps_the_core_pure() -> None:
    impure = {
        str(path.relative_to(ROOT)): sorted(IMPURE.intersection(imported(path)))
        for path in python_files("ieim/pipeline")
    }
    assert impure
    assert {name: modules for name, modules in impure.items() if modules} == {}


def test_it_asks_the_core_for_no_clock() -> None:
    clock = re.compile(r"\b(now|utcnow|today)\(\)")
    for path in python_files("ieim/pipeline"):
        assert not clock.search(path.read_text(encoding="utf-8")), path


def test_it_reads_the_environment_in_one_place() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for path in python_files(*CODE)
        if re.search(r"\benviron\b|\bgetenv\b", path.read_text(encoding="utf-8"))
    ]
    assert readers
    # The channel is a program of its own, which knows no settings of the site.
    own = ("ieim/config/", "ieim/telegram/__main__.py")
    assert [name for name in readers if not name.startswith(own)] == []


def test_it_sends_every_task_to_the_one_queue() -> None:
    current_app.loader.import_default_modules()
    tasks = {
        name: task
        for name, task in current_app.tasks.items()
        if name.partition(".")[0] in ("conversations", "review", "ieim")
    }
    assert set(tasks) >= {moves.RUN_TURN, "conversations.tasks.sweep", "ieim.studio.tasks.sweep"}
    for name, task in tasks.items():
        routed = current_app.amqp.router.route({}, name)["queue"].name
        assert {routed, getattr(task, "queue", None) or routed} == {
            settings.CELERY_TASK_DEFAULT_QUEUE
        }, name
    assert moves.QUEUE == settings.CELERY_TASK_DEFAULT_QUEUE


def test_it_sweeps_with_a_task_that_exists() -> None:
    current_app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert scheduled <= set(current_app.tasks)


@pytest.mark.parametrize("name", ["base.txt", "bench.txt", "dev.txt", "node.txt"])
def test_it_locks_python_packages_by_hash_alone(name: str) -> None:
    lock = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert re.search(r"^[a-z].*==.* \\\n +--hash=sha256:", lock, flags=re.MULTILINE)
    assert not re.search(r"://|--(extra-)?index-url|--find-links|^#", lock, flags=re.MULTILINE)
    for pinned in re.findall(r"^[a-zA-Z].*$(?:\n .*)*", lock, flags=re.MULTILINE):
        assert "--hash=sha256:" in pinned, pinned


def test_it_locks_npm_packages_by_hash_alone() -> None:
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    assert '"integrity": "sha512-' in lock
    assert '"resolved"' not in lock
    assert ".tgz" not in lock

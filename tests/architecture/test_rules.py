"""Rules of the repository that no linter knows."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings

from conversations.turns import moves
from docs import build_layers

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = ("ieim", "conversations", "review")
MOST_LINES = 600
MOST_FILES = 25

IMPURE = frozenset(
    ["asyncio", "http", "os", "random", "secrets", "socket", "ssl", "subprocess", "time", "uuid"]
)
"""What the core does not import: it is given the time, the network and the environment."""

GROUP_REPEATED_POSSESSIVELY = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def python_files(*folders: str) -> Iterator[Path]:
    """Yield our Python files below ``folders``, without migrations."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def imported(path: Path) -> Iterator[str]:
    """Yield the top-level packages that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_files_and_folders_keep_to_their_limits() -> None:
    files = list(python_files(*CODE, "tests", "benchmarks", "deploy"))
    long = [f for f in files if len(f.read_text(encoding="utf-8").splitlines()) > MOST_LINES]
    full = {f.parent for f in files if len(list(f.parent.glob("*.py"))) > MOST_FILES}
    assert [str(path.relative_to(ROOT)) for path in (*long, *sorted(full))] == []


def test_the_core_is_pure() -> None:
    files = list(python_files("ieim/pipeline"))
    assert files
    clock = re.compile(r"\b(now|utcnow|today)\(\)")
    for path in files:
        assert IMPURE.isdisjoint(imported(path)), path
        assert not clock.search(path.read_text(encoding="utf-8")), path


def test_the_environment_is_read_in_one_place() -> None:
    reads = re.compile(r"\benviron\b|\bgetenv\b")
    readers = [
        path.relative_to(ROOT).as_posix()
        for path in python_files(*CODE)
        if reads.search(path.read_text(encoding="utf-8"))
    ]
    assert readers
    assert [name for name in readers if not name.startswith("ieim/config/")] == []


def test_every_task_goes_to_the_one_queue_and_what_is_scheduled_exists() -> None:
    current_app.loader.import_default_modules()
    tasks = {n: t for n, t in current_app.tasks.items() if n.partition(".")[0] in CODE}
    assert set(tasks) >= {moves.RUN_TURN, "conversations.tasks.sweep"}
    queue = settings.CELERY_TASK_DEFAULT_QUEUE
    for name, task in tasks.items():
        routed = current_app.amqp.router.route({}, name)["queue"].name
        assert {routed, getattr(task, "queue", None) or routed} == {queue}, name
    assert queue == moves.QUEUE
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(tasks)


@pytest.mark.parametrize("name", ["base.txt", "dev.txt", "node.txt"])
def test_python_packages_are_locked_by_hash_alone(name: str) -> None:
    lock = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index-url|--find-links|^#", lock, flags=re.MULTILINE)
    pinned = re.findall(r"^[a-zA-Z].*$(?:\n .*)*", lock, flags=re.MULTILINE)
    assert pinned
    assert [entry for entry in pinned if "--hash=sha256:" not in entry] == []


def test_npm_packages_are_locked_by_hash_alone() -> None:
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    assert '"integrity": "sha512-' in lock
    assert '"resolved"' not in lock
    assert ".tgz" not in lock


def test_no_pattern_repeats_a_group_possessively() -> None:
    # Python up to 3.11.4, which Debian 12 has, goes on where the last try of such a group broke off
    # (CPython's gh-106052): what was found had other offsets. Single characters are repeated well.
    for name in ("ieim.pipeline", "ieim.search", "ieim.llm", "conversations", "review"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not {"migrations", "management"}.intersection(module.name.split(".")):
                importlib.import_module(module.name)
    patterns = {
        f"{name}.{key}": value.pattern
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in CODE
        for key, value in vars(module).items()
        if isinstance(value, re.Pattern)
    }
    assert len(patterns) > 50
    keys = [key for key, text in patterns.items() if GROUP_REPEATED_POSSESSIVELY.search(text)]
    assert keys == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_and_links_to_no_file_that_is_not_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    top = "ieim|conversations|review|benchmarks|deploy|docs|examples|static|templates|tests"
    if page.name != "CHANGELOG.md":
        quoted = re.findall(rf"`((?:{top})/[\w./-]+)`", text)
        missing += [path for path in quoted if not (ROOT / path).exists()]
    assert missing == []


def test_the_picture_of_the_layers_is_up_to_date() -> None:
    assert build_layers.main(["--check"]) == 0

"""Everything that `make test` checks, one step after another: python -m tests.checks

Steps go on after a failure, so that one run shows all of them. What a step needs of the machine is
installed when that is allowed (root on Debian); otherwise the step is skipped and named at the end.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests import services

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable
DJANGO = (PYTHON, "-m", "django")
PYTEST = (PYTHON, "-m", "pytest", "--quiet")
SERVICES = (PYTHON, "-m", "tests.services")

PRODUCTION = {
    "IEIM_ENV": "production",
    "IEIM_SECRET_KEY": "only-for-this-check-0123456789-abcdefghijklmnopqrstuvwxyz",
    "IEIM_ALLOWED_HOSTS": "ask.example.org",
    "IEIM_PUBLIC_URL": "https://ask.example.org",
    "DATABASE_URL": "postgresql://ieim@127.0.0.1:5432/ieim",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
    "IEIM_MODEL_BASE_URL": "https://models.example.org/v1",
    "IEIM_MODEL_NAME": "example",
}

PURE = ("architecture", "benchmarks", "llm", "pipeline", "search")
"""Tests of code that knows no database: to run them on a second one would show nothing more."""

PACKAGES = {"postgresql": "postgresql", "redis": "redis-server", "chromium": "chromium"}
"""What a step can need, and Debian's package of it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One heading of the run; neighbours that may run ``together`` are started at once."""

    title: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()
    together: bool = False


STEPS = (
    Step("Lint (ruff)", (str(BIN / "ruff"), "check", "--quiet", ".")),
    Step("Format (ruff)", (str(BIN / "ruff"), "format", "--check", ".")),
    Step("Types (mypy, strict)", (PYTHON, "-m", "mypy")),
    Step("Import contracts (import-linter)", (str(BIN / "lint-imports"),)),
    Step("Missing migrations", (*DJANGO, "makemigrations", "--check", "--dry-run")),
    Step(
        "Production settings (check --deploy)",
        (*DJANGO, "check", "--deploy", "--fail-level", "WARNING"),
        PRODUCTION,
    ),
    Step("Suite on SQLite", PYTEST, {"IEIM_TEST_EXPECT_VENDOR": "sqlite"}, together=True),
    Step(
        "Suite on PostgreSQL and Redis",
        (*SERVICES, *PYTEST, *(f"--ignore=tests/{name}" for name in PURE)),
        {"IEIM_TEST_EXPECT_VENDOR": "postgresql"},
        ("postgresql", "redis"),
        together=True,
    ),
    Step("Browser (Chromium)", (*PYTEST, "-m", "browser", "tests/browser"), {}, ("chromium",)),
)


def lacking() -> list[str]:
    """What the machine lacks of :data:`PACKAGES`."""
    there = {
        "postgresql": services.postgres_bin() is not None,
        "redis": shutil.which("redis-server") is not None,
        "chromium": shutil.which("chromium") is not None,
    }
    return [name for name, found in there.items() if not found]


def install(names: Sequence[str]) -> None:
    """Install Debian's packages of ``names`` where that is allowed; says so when it fails."""
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists():
        return
    packages = [PACKAGES[name] for name in names]
    print(f"\nInstalling {', '.join(packages)} ...", flush=True)
    apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        done = subprocess.run(
            [*apt, *arguments],
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            print(f"apt-get {arguments[0]} failed:\n{done.stdout}", flush=True)


def clean_environment() -> dict[str, str]:
    """This process's environment without any variable that `.env.example` documents."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    ours = set(re.findall(r"^#?\s*([A-Z][A-Z_]+)=", example, flags=re.MULTILINE))
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return kept | {"DJANGO_SETTINGS_MODULE": "ieim.config.settings", "PYTHONPATH": str(ROOT)}


def run(steps: Sequence[Step], environment: Mapping[str, str]) -> list[str]:
    """Run steps at once and tell of them one after the other; returns the titles of the failed.

    The first one's output is shown as it comes, the others' when it has ended.
    """
    failed = []
    with contextlib.ExitStack() as stack:
        print(heading(steps[0]), flush=True)
        running: list[tuple[Step, subprocess.Popen[bytes], IO[str] | None]] = []
        for step in steps:
            output: IO[str] | None = None
            if running:
                output = stack.enter_context(tempfile.TemporaryFile("w+"))
            child = subprocess.Popen(
                step.command,
                cwd=ROOT,
                env={**environment, **step.env},
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
            )
            running.append((step, child, output))
        for step, child, output in running:
            if child.wait():
                failed.append(step.title)
            if output is not None:
                print(heading(step), flush=True)
                output.seek(0)
                shutil.copyfileobj(output, sys.stdout)
    return failed


def heading(step: Step) -> str:
    """Return what stands above a step's output."""
    return f"\n== {STEPS.index(step) + 1}/{len(STEPS)} {step.title} =="


def main() -> int:
    """Run every step; returns 0 when none failed."""
    missing = lacking()
    if missing:
        install(missing)
        missing = lacking()
    environment = clean_environment()
    started = time.monotonic()
    failed: list[str] = []
    skipped: list[str] = []
    for together, steps in itertools.groupby(STEPS, key=lambda step: step.together):
        possible = []
        for step in steps:
            lacks = [PACKAGES[name] for name in step.needs if name in missing]
            if lacks:
                skipped.append(f"{step.title}: this machine has no {' and no '.join(lacks)}")
                print(f"\nSKIPPED {skipped[-1]}", flush=True)
            else:
                possible.append(step)
        for at_once in [possible] if together else [[step] for step in possible]:
            failed += run(at_once, environment)
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    print(f"\nmake test took {minutes} min {seconds} s.")
    for line in skipped:
        print(f"SKIPPED {line}")
    for title in failed:
        print(f"FAILED  {title}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

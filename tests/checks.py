"""The steps of `make check`, `make test` and `make test-all`: python -m tests.checks [quick|all]

Two steps run at once. A step that fails does not stop the others, so that one run shows all
failures. Where the machine lacks a program that a step needs, it is installed if that is allowed
(root on Debian); otherwise the step is skipped and named at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests import processes, services

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable
DJANGO = (PYTHON, "-m", "django")
PYTEST = (PYTHON, "-m", "pytest", "--quiet", "--durations=20")
CORES = os.cpu_count() or 1
WORKERS = (f"--numprocesses={CORES}", "--dist=loadfile")
MORE_WORKERS = (f"--numprocesses={CORES + 1}",)
"""For the longest suite: many of its tests wait for processes of their own."""

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

AVAILABLE = {
    "postgresql": lambda: services.postgres_bin() is not None,
    "redis-server": lambda: shutil.which("redis-server") is not None,
    "chromium-headless-shell": lambda: services.chromium() is not None,
    "prometheus": lambda: shutil.which("promtool") is not None,
}
"""Debian packages that steps need, and whether their programs are installed."""


@dataclass(frozen=True)
class Step:
    """A command, and the Debian packages that it needs."""

    title: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()


QUICK = [
    Step("Lint (ruff)", (str(BIN / "ruff"), "check", "--quiet", ".")),
    Step("Format (ruff)", (str(BIN / "ruff"), "format", "--check", ".")),
    Step("Types (mypy, strict)", (PYTHON, "-m", "mypy")),
    Step("Import contracts (import-linter)", (str(BIN / "lint-imports"),)),
    Step("Missing migrations", (*DJANGO, "makemigrations", "--check", "--dry-run")),
]
GATE = Step("Tests of the gate", (*PYTEST, "-m", "not whole", "tests/pipeline/gate"))
DEPLOYMENT = [
    Step("Unsafe migrations", (PYTHON, "-m", "tests.migrations"), needs=("postgresql",)),
    Step(
        "Alert rules (promtool)",
        (*PYTEST, "tests/config/monitoring/test_deploy.py", "-k", "fires or promtool"),
        needs=("prometheus",),
    ),
    Step("Production settings", (*DJANGO, "check", "--deploy", "--fail-level=WARNING"), PRODUCTION),
]


def marked_files() -> list[str]:
    """Return the test files with a test that `make test` runs on PostgreSQL."""
    mark = re.compile(r"mark\.(both_databases|postgres)\b")
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(file) for file in files if mark.search(file.read_text(encoding="utf-8"))]


def suites(*, whole: bool) -> list[Step]:
    """Return the test runs: on SQLite, on PostgreSQL and in the browser."""
    options = [*WORKERS, "--hypothesis-profile=whole"] if whole else WORKERS
    chosen = "" if whole else " and not whole"
    on_postgresql = "not browser" if whole else f"(both_databases or postgres){chosen}"
    files = ["tests"] if whole else marked_files()
    suite = (*PYTEST, *options, "--ignore=tests/browser", "-m")
    return [
        Step(
            "Tests on SQLite",
            (*suite, f"not browser and not postgres{chosen}", *MORE_WORKERS),
            {"IEIM_TEST_EXPECT_VENDOR": "sqlite"},
        ),
        Step(
            "Tests on PostgreSQL and Redis",
            (PYTHON, "-m", "tests.services", *suite, on_postgresql, *files),
            {"IEIM_TEST_EXPECT_VENDOR": "postgresql"},
            ("postgresql", "redis-server"),
        ),
        Step(
            "Tests in the browser",
            (*PYTEST, *options, "-m", f"browser{chosen}", "tests/browser"),
            needs=("chromium-headless-shell",),
        ),
    ]


def install(packages: Sequence[str]) -> None:
    """Install Debian packages where that is allowed."""
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists():
        return
    print(f"Installing {', '.join(packages)} ...", flush=True)
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0", *arguments], env=env)


def clean_environment() -> dict[str, str]:
    """Return this process's environment without the variables that `.env.example` documents."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    ours = set(re.findall(r"^#?\s*([A-Z][A-Z_]+)=", example, flags=re.MULTILINE))
    ours.add("PYTHONDONTWRITEBYTECODE")  # a run starts dozens of processes of the same code
    by_key = {name: value for name, value in os.environ.items() if name not in ours}
    return by_key | {"DJANGO_SETTINGS_MODULE": "ieim.config.settings", "PYTHONPATH": str(ROOT)}


def run(step: Step, environment: Mapping[str, str]) -> bool:
    """Run a step and print its output; returns whether it passed."""
    started = time.monotonic()
    env = {**environment, **step.env}
    done = subprocess.run(
        step.command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    text = done.stdout.decode(errors="replace")
    print(f"\n== {step.title}: {time.monotonic() - started:.0f} s ==\n{text}", flush=True)
    return done.returncode == 0


def main(steps: Sequence[Step]) -> int:
    """Run ``steps``; returns 0 when none failed."""
    started = time.monotonic()
    needed = {package for step in steps for package in step.needs}
    if missing := sorted(package for package in needed if not AVAILABLE[package]()):
        install(missing)
        missing = [package for package in missing if not AVAILABLE[package]()]
    skipped = [step for step in steps if set(step.needs).intersection(missing)]
    chosen = [step for step in steps if step not in skipped]
    mark = processes.mark()
    signal.signal(signal.SIGTERM, lambda *_: processes.stop(mark))
    # Test databases are in memory where it has room: on a disk, each commit waits for it.
    memory = Path("/dev/shm")  # noqa: S108
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= 4 * 2**30
    with tempfile.TemporaryDirectory(prefix="ieim-", dir=memory if roomy else None) as folder:
        Path(folder).chmod(0o755)  # PostgreSQL's user has to reach its own folder in it
        environment = {**clean_environment(), "TMPDIR": folder}
        with ThreadPoolExecutor(2) as pool:
            passed = list(pool.map(lambda step: run(step, environment), chosen))
    failed = [step.title for step, ok in zip(chosen, passed, strict=True) if not ok]
    failed += [f"a process had not ended: {line}" for line in processes.end(mark)]
    print(f"It took {time.monotonic() - started:.0f} s.")
    for step in skipped:
        print(f"SKIPPED {step.title}: needs {' and '.join(step.needs)}")
    for title in failed:
        print(f"FAILED  {title}")
    return 1 if failed else 0


if __name__ == "__main__":
    if "quick" in sys.argv:
        sys.exit(main([*QUICK, GATE]))
    sys.exit(main([*suites(whole="all" in sys.argv), *QUICK, *DEPLOYMENT]))

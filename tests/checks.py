"""Everything that `make test` checks, one step after another: python -m tests.checks [--quick]

``--quick`` is `make check`: the steps that take under a minute together.

One step more runs at once than there are processors: suites wait for browsers, servers and locks.
The suites are dealt out in parts and start first, so that no long step is left to the last; they
are told of in their order. They go on after a failure, so that one run shows all of them.
What a step needs of the machine is installed when that is allowed (root on Debian); otherwise the
step is skipped and named at the end. A process that a step leaves behind is ended, and a failure.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NoReturn

from tests import processes, services

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable
DJANGO = (PYTHON, "-m", "django")
PYTEST = (PYTHON, "-m", "pytest", "--quiet", "--durations=20")
SUITE = (*PYTEST, "--ignore=tests/browser")
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

PACKAGES = {
    "postgresql": "postgresql",
    "redis": "redis-server",
    "chromium": "chromium-headless-shell",
}
"""What a step can need, and Debian's package of it."""


PROCESSORS = os.cpu_count() or 1
LANES = PROCESSORS + 1
"""Steps that run at once: a suite computes for about two thirds of its time."""
PARTS = max(3, PROCESSORS // 2)
"""Parts of each suite; each has a database, servers and browsers of its own. With two, whatever was
dealt out badly stood at the end, beside an idle processor."""
MEMORY = Path("/dev/shm")  # noqa: S108  # each run makes a folder of its own there
"""Where Linux keeps files in memory: test databases are made and closed thousands of times, and on
a disk each waits for it."""
ROOM = 4 * 2**30
"""Bytes that have to be free there; containers may have next to none."""
SLOW = {"tests/review": 14, "tests/upgrading": 12, "tests/faults": 8, "tests/search/inquiry": 6}
"""Folders that take so many times as long as others of their size."""


@dataclass(frozen=True, slots=True)
class Step:
    """One heading of the run."""

    title: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()
    long: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """A step that has ended: what it said, how long it took in seconds, and whether it failed."""

    step: Step
    said: str
    took: float
    failed: bool


def parts(title: str, command: Sequence[str], *needs: str) -> Iterator[Step]:
    """Deal a suite out to several steps."""
    vendor = "postgresql" if "postgresql" in needs else "sqlite"
    for each in range(1, PARTS + 1):
        part = f"{each}/{PARTS}"
        environment = {"IEIM_TEST_EXPECT_VENDOR": vendor}
        asked = (*command, f"--part={part}")
        yield Step(f"{title}, {part}", asked, environment, needs, long=True)


def dealt(files: Iterable[Path], part: str) -> set[Path]:
    """Return the files of one part of several, such as ``1/2``.

    Folders stay whole, because their files share what they have made, such as a model that has been
    taught; the largest are dealt first, each to the part that has least.
    """
    number, of = map(int, part.split("/"))
    folders: dict[Path, list[Path]] = {}
    for file in sorted(files):
        folders.setdefault(file.parent, []).append(file)
    sizes = {each: sum(map(_size, found)) * _slowness(each) for each, found in folders.items()}
    hands: list[list[Path]] = [[] for _ in range(of)]
    held = [0] * of
    for folder in sorted(folders, key=lambda each: -sizes[each]):
        least = held.index(min(held))
        hands[least] += folders[folder]
        held[least] += sizes[folder]
    return set(hands[number - 1])


def _size(file: Path) -> int:
    return file.stat().st_size


def _slowness(folder: Path) -> int:
    return SLOW.get("/".join(folder.parts[len(ROOT.parts) :]), 1)


GATE = ("calls", "gate", "message", "reply")
"""The quickest of the core's tests, and what must not break first."""

STEPS = (
    Step("Lint (ruff)", (str(BIN / "ruff"), "check", "--quiet", ".")),
    Step("Format (ruff)", (str(BIN / "ruff"), "format", "--check", ".")),
    Step("Types (mypy, strict)", (PYTHON, "-m", "mypy")),
    Step("Import contracts (import-linter)", (str(BIN / "lint-imports"),)),
    Step("Missing migrations", (*DJANGO, "makemigrations", "--check", "--dry-run")),
    Step(
        "Unsafe migrations (django-migration-linter)",
        (PYTHON, "-m", "tests.migrations"),
        {},
        ("postgresql",),
    ),
    Step(
        "Production settings (check --deploy)",
        (*DJANGO, "check", "--deploy", "--fail-level", "WARNING"),
        PRODUCTION,
    ),
    # In turns: browsers wait while the others compute.
    *chain.from_iterable(
        zip(
            parts("Browser (Chromium)", (*PYTEST, "-m", "browser", "tests/browser"), "chromium"),
            parts("Suite on PostgreSQL and Redis", (*SERVICES, *SUITE), "postgresql", "redis"),
            parts("Suite on SQLite", SUITE),
            strict=True,
        )
    ),
)


QUICK = (
    *STEPS[:5],
    Step("Tests of the gate", (*PYTEST[:-1], *(f"tests/pipeline/{name}" for name in GATE))),
)
"""What `make check` does."""


def lacking() -> list[str]:
    """What the machine lacks of :data:`PACKAGES`."""
    there = {
        "postgresql": services.postgres_bin() is not None,
        "redis": shutil.which("redis-server") is not None,
        "chromium": services.chromium() is not None,
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
    """This process's environment without any variable that `.env.example` documents.

    Python may keep what it has compiled: a run starts dozens of processes of the same code.
    """
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    ours = set(re.findall(r"^#?\s*([A-Z][A-Z_]+)=", example, flags=re.MULTILINE))
    ours.add("PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return kept | {"DJANGO_SETTINGS_MODULE": "ieim.config.settings", "PYTHONPATH": str(ROOT)}


def run(step: Step, environment: Mapping[str, str]) -> Done:
    """Run a step to its end."""
    print(f"{step.title} ...", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        code = subprocess.run(
            step.command,
            cwd=ROOT,
            env={**environment, **step.env},
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode
        output.seek(0)
        return Done(step, output.read(), time.monotonic() - started, failed=code != 0)


def run_all(steps: Sequence[Step], environment: Mapping[str, str]) -> Iterator[Done]:
    """Run steps side by side, the long ones first; yields them in their order, each as soon as it
    can be told."""
    with ThreadPoolExecutor(LANES) as lanes:
        started = {
            step.title: lanes.submit(run, step, environment)
            for step in sorted(steps, key=lambda step: not step.long)
        }
        for step in steps:
            yield started[step.title].result()


def scratch() -> str | None:
    """Where the temporary files of all steps go: to memory where it has room, else as usual."""
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM
    return str(MEMORY) if roomy else None


def span(seconds: float) -> str:
    """A duration for people."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:2} s"


def main(steps: Sequence[Step] | None = None) -> int:
    """Run ``steps``, all by default; returns 0 when none failed."""
    steps = STEPS if steps is None else steps
    needed = {name for step in steps for name in step.needs}
    missing = sorted(needed.intersection(lacking()))
    if missing:
        install(missing)
        missing = sorted(needed.intersection(lacking()))
    skipped = {
        step.title: f"this machine has no {' and no '.join(map(PACKAGES.__getitem__, lacks))}"
        for step in steps
        if (lacks := [name for name in step.needs if name in missing])
    }
    started = time.monotonic()
    mark = processes.mark()

    def give_up(*_: object) -> NoReturn:
        processes.stop(mark)
        processes.end(mark, patience=30)
        sys.exit(143)

    signal.signal(signal.SIGTERM, give_up)
    times, failed = [], []
    with tempfile.TemporaryDirectory(prefix="ieim-", dir=scratch()) as folder:
        Path(folder).chmod(0o755)  # PostgreSQL's user has to get to its own folder in it
        environment = {**clean_environment(), "TMPDIR": folder, "IEIM_TEST_OUTCOMES": folder}
        for done in run_all([step for step in steps if step.title not in skipped], environment):
            number = list(steps).index(done.step) + 1
            print(f"\n== {number}/{len(steps)} {done.step.title} ==\n{done.said}", flush=True)
            times.append(f"{span(done.took)}  {done.step.title}")
            if done.failed:
                failed.append(done.step.title)
    failed += [f"a process had not ended: {line}" for line in processes.end(mark)]
    print("\n".join([*times, f"\nIt took {span(time.monotonic() - started)}."]))
    for title, why in skipped.items():
        print(f"SKIPPED {title}: {why}")
    for title in failed:
        print(f"FAILED  {title}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(QUICK if "--quick" in sys.argv[1:] else STEPS))

"""Turns that wait for a slow model: how long citizens wait, and what waiting costs.

    python benchmarks/bench_waiting.py [--json] [--delay 2] [--turns 60] [--wait 500]

Runs the site as a deployment would, against the offline engine served over HTTP with a delay before
every answer. First the time from a message to its answer, one citizen after another, with the next
stages asked ahead and without. Then many citizens at once: turns a second, the most memory that
the worker has beyond an idle one, and the connections to the database that are in use, beside a
worker with eight turns at a time. Then (`--only waiting`) the model holds the last four calls of
every turn until all turns wait, 8, 200 and 500 of them: what that takes in memory and connections,
and that all of them end when it lets go. PostgreSQL and Redis are started where they are installed;
else the one process alone is measured. Figures are of the machine at hand; compare the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.citizens import Citizen, Database, memory
from benchmarks.load.held_model import Held, model
from tests.live import site
from tests.services import services

QUESTIONS = (
    "I want to extend my tourist visa",
    "My passport was stolen, how do I get a new one?",
    "How do I register the birth of my baby?",
    "Where can I renew my driving licence?",
)
EACH = 8
"""Citizens one after another."""
AT_ONCE = 8
"""Turns of the baseline."""
PATIENCE = 900.0


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: seconds are medians over turns, memory is in MiB beyond the idle worker."""

    mode: str
    ahead: bool
    at_once: int
    turns: int
    seconds: float
    rate: float
    memory: float
    connections: int
    failed: int

    def __str__(self) -> str:
        return (
            f"{self.mode:<18} ahead {'on ' if self.ahead else 'off'}  {self.turns:>4} turns, "
            f"{self.at_once:>4} at once  median {self.seconds:>6.1f} s  {self.rate:>5.2f} turns/s  "
            f"+{self.memory:>4.0f} MiB  {self.connections:>2} connections  {self.failed} not done"
        )


@dataclass(frozen=True, slots=True)
class Wait:
    """Turns that all wait at the same time: ``calls`` are under way for them. Memory is in MiB,
    that of the idle worker and what it has beyond, ``most`` until the last of them has ended."""

    mode: str
    turns: int
    calls: int
    idle: float
    memory: float
    most: float
    connections: int
    failed: int

    def __str__(self) -> str:
        return (
            f"{self.mode:<12} {self.turns:>4} turns wait for {self.calls:>4} calls, "
            f"{self.calls / self.turns:.1f} each: service_select and triage  "
            f"idle {self.idle:>4.0f} MiB  +{self.memory:>4.0f} MiB, at most +{self.most:>4.0f}  "
            f"{self.connections:>2} connections  {self.failed} not done"
        )


def measure(
    mode: str, environment: Mapping[str, str], *, ahead: bool, at_once: int, turns: int, alone: bool
) -> Row:
    """Run the site and ask ``turns`` questions, one after another with ``alone``."""
    own = {"IEIM_MODEL_AHEAD": str(ahead).lower(), "IEIM_WORKER_TURNS": str(at_once)}
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder), **environment, **own) as running,
    ):
        database = Database(running)
        citizens = [Citizen(running.base_url) for _ in range(turns)]
        citizens[0].ask(QUESTIONS[0])  # what is read at first use is read
        _until_done(database, 1)
        idle, most, connections, waiting = memory(running.worker_pid), 0.0, 0, 0
        started = time.monotonic()
        if alone:
            for number, citizen in enumerate(citizens[1:], 2):
                citizen.ask(QUESTIONS[number % len(QUESTIONS)])
                _until_done(database, number)
        else:
            with ThreadPoolExecutor(8) as pool:
                results = [
                    pool.submit(entry.ask, QUESTIONS[number % len(QUESTIONS)])
                    for number, entry in enumerate(citizens[1:])
                ]
                while not _done(database, turns):
                    most = max(most, memory(running.worker_pid))
                    connections = max(connections, database.busy())
                    waiting = max(waiting, database.waiting())
                    if time.monotonic() - started > PATIENCE:
                        break
                    time.sleep(0.5)  # between two looks
                for entry in results:
                    entry.result()
        seconds = time.monotonic() - started
        return Row(
            mode=mode,
            ahead=ahead,
            at_once=waiting or 1,
            turns=turns - 1,
            seconds=statistics.median(database.seconds()[1:]),
            rate=(turns - 1) / seconds,
            memory=max(most - idle, 0.0),
            connections=connections,
            failed=turns - _ended(database),
        )


def measure_waiting(mode: str, environment: Mapping[str, str], held: Held, *, turns: int) -> Wait:
    """Run the site, let ``turns`` turns wait for the model at the same time, and let them go."""
    own = {"IEIM_WORKER_TURNS": str(turns), "IEIM_MODEL_DEADLINE": "600"}
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder), **environment, **own) as running,
    ):
        database = Database(running)
        citizens = [Citizen(running.base_url) for _ in range(turns + 1)]
        citizens[0].ask(QUESTIONS[0])  # what is read at first use is read
        _until_done(database, 1)
        idle = memory(running.worker_pid)
        held.hold()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: citizens[n].ask(QUESTIONS[n % 4]), range(1, turns + 1)))
        calls = _until_held(database, held, turns)
        waiting, connections = memory(running.worker_pid), database.busy()
        held.release()
        most, started = waiting, time.monotonic()
        while not _done(database, turns + 1) and time.monotonic() - started < PATIENCE:
            most = max(most, memory(running.worker_pid))
            time.sleep(0.5)  # between two looks
        failed = turns + 1 - _ended(database)
        return Wait(mode, turns, calls, idle, waiting - idle, most - idle, connections, failed)


def _row(delay: float, mode: str, environment: Mapping[str, str], **how: Any) -> Row | Wait:
    with model(delay) as context:
        named = {"IEIM_MODEL_BASE_URL": context.base_url, "IEIM_MODEL_NAME": "ieim-offline"}
        if "at_once" in how:
            return measure(mode, {**environment, **named}, **how)
        return measure_waiting(mode, {**environment, **named}, context, **how)


def _until_held(database: Database, held: Held, turns: int) -> int:
    """Return how many calls are held, once all turns wait and no further call comes."""
    begun, calls = time.monotonic(), -1
    while time.monotonic() - begun < PATIENCE:
        before, calls = calls, held.calls
        if calls == before and database.waiting() == turns:
            return calls
        time.sleep(3)  # between two looks
    raise SystemExit(f"Only {database.waiting()} of {turns} turns wait, for {calls} calls.")


def _ended(database: Database) -> int:
    states = database.states()
    return sum(states.get(s, 0) for s in ("answered", "asking", "needs_review"))


def _done(database: Database, turns: int) -> bool:
    return _ended(database) >= turns


def _until_done(database: Database, turns: int) -> None:
    begun = time.monotonic()
    while not _done(database, turns) and time.monotonic() - begun < PATIENCE:
        time.sleep(0.02)  # between two looks


def _plan(options: argparse.Namespace) -> Iterator[tuple[str, Mapping[str, str], dict[str, Any]]]:
    """Yield what to measure: the mode, its environment, and how."""
    only = options.only
    if only in (None, "alone"):
        how = {"at_once": AT_ONCE, "turns": EACH + 1, "alone": True}
        for ahead in (False, True):
            yield "one after another", {}, {"ahead": ahead, **how}
    for mode, named, most in (("one process", "embedded", 200), ("one worker", "distributed", 500)):
        if only not in (None, named, "waiting"):
            continue
        result = services() if named == "distributed" else nullcontext(dict[str, str]())
        with result as environment:
            many = min(most, options.wait)
            if only != "waiting":
                few = {"ahead": False, "at_once": AT_ONCE, "turns": options.turns + 1}
                yield mode, environment, {"alone": False, **few}
                full = {"ahead": True, "at_once": most, "turns": many + 1}
                yield mode, environment, {"alone": False, **full}
            if only in (None, "waiting"):
                for turns in (AT_ONCE, many):
                    yield mode, environment, {"turns": turns}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--delay", type=float, default=2.0, help="seconds before an answer")
    parser.add_argument("--turns", type=int, default=60, help="turns at once beside eight threads")
    parser.add_argument("--wait", type=int, default=500, help="turns that wait in a worker")
    parser.add_argument("--only", choices=["alone", "embedded", "distributed", "waiting"])
    options = parser.parse_args()
    # Ended by SIGTERM as by Ctrl-C: what was started is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    rows: list[Row | Wait] = []
    for mode, environment, how in _plan(options):
        rows.append(_row(options.delay, mode, environment, **how))
        if not options.json:
            print(rows[-1], flush=True)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()

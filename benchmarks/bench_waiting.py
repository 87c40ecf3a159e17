"""Turns that wait for a slow model: how long citizens wait, and what waiting costs.

    python benchmarks/bench_waiting.py [--json] [--delay 2] [--turns 60] [--wait 500]

Runs the site as a deployment would, against the offline engine served over HTTP with a delay before
every answer. First the time from a message to its answer, one citizen after another, with the next
stages asked ahead and without. Then many citizens at once: turns a second, the worker's memory
beyond an idle one while all wait, and the connections to the database that are in use, beside a
worker with eight turns at a time. PostgreSQL and Redis are started where they are installed; else
the one process alone is measured. Figures are of the machine at hand; compare the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.live import Site, site
from tests.services import services

QUESTIONS = (
    "I want to extend my tourist visa",
    "My passport was stolen, how do I get a new one?",
    "How do I register the birth of my baby?",
    "Where can I renew my driving licence?",
)
EACH = 8
"""Citizens one after another."""
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


@contextmanager
def model(delay: float) -> Iterator[str]:
    """Serve the offline engine, each answer ``delay`` seconds late; yields its base URL."""
    code = (
        "from ieim.llm.serving.server import offline_app, serve;"
        f"serve(offline_app(delay={delay}), host='127.0.0.1', port=0,"
        "ready=lambda url: print(url, flush=True))"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().decode().strip()
        finally:
            server.terminate()


class Citizen:
    """One conversation by REST."""

    def __init__(self, base_url: str) -> None:
        self._base, self._token = f"{base_url}/api/v1", ""
        made = self._call("POST", f"{self._base}/sessions/", {})
        self._id, self._token = made["id"], made["token"]

    def ask(self, text: str) -> str:
        """Send a message; returns the turn's id."""
        path = f"{self._base}/sessions/{self._id}/turns/"
        turn: str = self._call("POST", path, {"text": text})["id"]
        return turn

    def _call(self, method: str, url: str, body: Mapping[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        answer = httpx.request(method, url, json=body, headers=headers, timeout=60)
        return answer.raise_for_status().json()


class Database:
    """What the bench reads of the running site's database."""

    def __init__(self, running: Site) -> None:
        self._url = running.database
        self._postgres = self._url.startswith("postgresql")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        if self._postgres:
            import psycopg

            with psycopg.connect(self._url) as connection:
                return connection.execute(query.encode()).fetchall()
        with closing(sqlite3.connect(self._url)) as connection:
            return connection.execute(query).fetchall()

    def states(self) -> dict[str, int]:
        """Return how many turns are in each state."""
        return dict(self.rows("SELECT state, count(*) FROM conversations_turn GROUP BY state"))

    def seconds(self) -> list[float]:
        """Return how long each answered turn took, from the message to the reply."""
        took = "EXTRACT(EPOCH FROM r.created_at - t.created_at)"
        if not self._postgres:
            took = "(julianday(r.created_at) - julianday(t.created_at)) * 86400"
        joined = "conversations_reply r JOIN conversations_turn t ON t.id = r.turn_id"
        found = self.rows(f"SELECT {took} FROM {joined}")  # noqa: S608  # both are ours
        return [float(row[0]) for row in found]

    def waiting(self) -> int:
        """Return how many turns are being run."""
        return self.states().get("running", 0)

    def busy(self) -> int:
        """Return how many other connections are in a transaction or a statement; 0 on SQLite."""
        if not self._postgres:
            return 0
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND state <> 'idle' AND pid <> pg_backend_pid()"
        )
        return int(self.rows(query)[0][0])


def memory(pid: int) -> float:
    """Return what a process has in memory, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


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
                asked = [
                    pool.submit(each.ask, QUESTIONS[number % len(QUESTIONS)])
                    for number, each in enumerate(citizens[1:])
                ]
                while not _done(database, turns):
                    most = max(most, memory(running.worker_pid))
                    connections = max(connections, database.busy())
                    waiting = max(waiting, database.waiting())
                    if time.monotonic() - started > PATIENCE:
                        break
                    time.sleep(0.5)  # between two looks
                for each in asked:
                    each.result()
        seconds = time.monotonic() - started
        states = database.states()
        return Row(
            mode=mode,
            ahead=ahead,
            at_once=waiting or 1,
            turns=turns - 1,
            seconds=statistics.median(database.seconds()[1:]),
            rate=(turns - 1) / seconds,
            memory=max(most - idle, 0.0),
            connections=connections,
            failed=turns - sum(states.get(s, 0) for s in ("answered", "asking", "needs_review")),
        )


def _done(database: Database, turns: int) -> bool:
    states = database.states()
    return sum(states.get(s, 0) for s in ("answered", "asking", "needs_review")) >= turns


def _until_done(database: Database, turns: int) -> None:
    begun = time.monotonic()
    while not _done(database, turns) and time.monotonic() - begun < PATIENCE:
        time.sleep(0.02)  # between two looks


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--delay", type=float, default=2.0, help="seconds before an answer")
    parser.add_argument("--turns", type=int, default=60, help="turns at once beside eight threads")
    parser.add_argument("--wait", type=int, default=500, help="turns that wait in a worker")
    parser.add_argument("--only", choices=["alone", "embedded", "distributed"])
    options = parser.parse_args()
    # Ended by SIGTERM as by Ctrl-C: what was started is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows: list[Row] = []

    def add(mode: str, environment: Mapping[str, str], **how: Any) -> None:
        with model(options.delay) as base_url:
            named = {"IEIM_MODEL_BASE_URL": base_url, "IEIM_MODEL_NAME": "ieim-offline"}
            rows.append(measure(mode, {**environment, **named}, **how))
        if not options.json:
            print(_line(rows[-1]), flush=True)

    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    if options.only in (None, "alone"):
        for ahead in (False, True):
            add("one after another", {}, ahead=ahead, at_once=8, turns=EACH + 1, alone=True)
    if options.only in (None, "embedded"):
        for ahead, at_once in ((False, 8), (True, 200)):
            turns = min(options.turns, 200) if at_once == 8 else 200
            add("one process", {}, ahead=ahead, at_once=at_once, turns=turns + 1, alone=False)
    if options.only in (None, "distributed"):
        with services() as variables:
            for ahead, at_once in ((False, 8), (True, 500)):
                turns = options.turns if at_once == 8 else options.wait
                add(
                    "one worker",
                    variables,
                    ahead=ahead,
                    at_once=at_once,
                    turns=turns + 1,
                    alone=False,
                )
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))


def _line(row: Row) -> str:
    return (
        f"{row.mode:<18} ahead {'on ' if row.ahead else 'off'}  {row.turns:>4} turns, "
        f"{row.at_once:>4} at once  median {row.seconds:>6.1f} s  {row.rate:>5.2f} turns/s  "
        f"+{row.memory:>4.0f} MiB  {row.connections:>2} connections  {row.failed} not done"
    )


if __name__ == "__main__":
    main()

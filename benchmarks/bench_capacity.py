"""What an installation takes: memory a process, turns a second of one worker, bytes a turn.

    python -m tests.services .venv/bin/python benchmarks/bench_capacity.py [--turns 300] [--json]

Asks the demo's questions by REST, each in a conversation of its own, of one web process with one
worker, the embedded model for the search and the offline engine, on PostgreSQL and Redis. The bytes
are what the database grew by, with its indexes, once it is vacuumed. docs/installing.md has the
figures: whoever sizes a machine needs them, and no other benchmark looks at more than one of them.
Figures of the machine at hand.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.citizens import Citizen, Database, memory
from tests.live import Site, site

QUESTIONS = [
    json.loads(line)["text"]
    for line in (ROOT / "ieim/knowledge/demo/golden.jsonl").read_text("utf-8").splitlines()
]
ENDED = ("answered", "asking", "needs_review", "closed")
PATIENCE = 300.0
"""Seconds without an end."""


def measure(turns: int) -> dict[str, float]:
    """Return MiB of each process, turns a second, and bytes a turn."""
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder), IEIM_EMBEDDINGS="embedded", IEIM_API_TURNS_RATE="none") as running,
    ):
        if not running.database.startswith("postgresql"):
            raise SystemExit((__doc__ or "").split("\n\n")[1])
        database = Database(running)
        Citizen(running.base_url).ask(QUESTIONS[0])  # what is read at first use is read
        _until(database, 1)
        before, started = _size(running), time.monotonic()
        with ThreadPoolExecutor(4) as pool:
            results = [
                pool.submit(_ask, running.base_url, QUESTIONS[n % len(QUESTIONS)])
                for n in range(turns)
            ]
            for entry in results:
                entry.result()
        _until(database, turns + 1)
        took = time.monotonic() - started
        return {
            "web_mib": memory(running.server_pid),
            "worker_mib": memory(running.worker_pid),
            "turns_a_second": turns / took,
            "bytes_a_turn": (_size(running) - before) / turns,
        }


def _ask(base_url: str, text: str) -> None:
    Citizen(base_url).ask(text)


def _size(running: Site) -> int:
    with psycopg.connect(running.database, autocommit=True) as connection:
        connection.execute("VACUUM FULL")
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])


def _until(database: Database, turns: int) -> None:
    started = time.monotonic()
    while True:
        states = database.states()
        if (
            sum(states.get(entry, 0) for entry in ("answered", "asking", "needs_review", "closed"))
            >= turns
        ):
            return
        if time.monotonic() - started > PATIENCE:
            raise SystemExit(f"Turns have not ended: {states}")
        time.sleep(0.2)  # between two looks


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result = measure(options.turns)
    if options.json:
        print(json.dumps(result))
        return
    print(f"web process      {result['web_mib']:.0f} MiB")
    print(f"worker           {result['worker_mib']:.0f} MiB")
    print(f"turns a second   {result['turns_a_second']:.1f}, one worker, the offline engine")
    print(f"a turn leaves    {result['bytes_a_turn'] / 1000:.0f} kB")


if __name__ == "__main__":
    main()

"""What the site takes and answers, and what a long history costs: load and growth.

    make bench-load
    python -m tests.services .venv/bin/python benchmarks/bench_load.py [PART ...] [options]

Needs PostgreSQL (``DATABASE_URL``) and Redis (``REDIS_URL``), where it makes databases of its own.
Parts: ``taking`` (messages a second by each way in, beside a bare Channels consumer that stores one
row), ``answering`` (two workers beside one), ``turn`` (what one turn costs), ``growth`` (the same
requests over ever more turns). Others may use the machine: compare ratios of one run, and rather
processor time, queries and pages than seconds. ``--turns 1000000`` takes some 15 GB of disk and, on
two cores, most of an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")


def main() -> None:
    """Run the parts that are asked for, and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}: else all")
    parser.add_argument("--messages", type=int, default=100, help="messages a round and way")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts")
    sizes = {"nargs": "+", "type": int, "default": [10_000, 100_000]}
    parser.add_argument("--turns", **sizes, help="sizes of the history, ascending, in hundreds")  # type: ignore[arg-type]
    parser.add_argument("--plot", type=Path, help="write the growth to this SVG file")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}: choose of {', '.join(PARTS)}")
    if any(size % 100 or size < 200 for size in options.turns):
        parser.error("--turns are multiples of 100, from 200 on")
    database, redis = (os.environ.get(name, "") for name in ("DATABASE_URL", "REDIS_URL"))
    if not (database.startswith("postgres") and redis):
        parser.error("PostgreSQL and Redis are needed: make bench-load starts both")
    by_key = {name: PARTS[name](options) for name in PARTS if name in (options.parts or PARTS)}
    if options.json:
        print(json.dumps(by_key))


def _taking(options: argparse.Namespace) -> Any:
    from benchmarks.load import serving

    with tempfile.TemporaryDirectory() as folder:
        rates = serving.taking(Path(folder), options.messages, options.rounds)
    bare = rates["bare consumer"]
    print("Messages taken by one server, the workers stopped:")
    for name, rate in rates.items():
        print(
            f"  {name:<16}{rate.a_second:>7.0f} a second  x {rate.a_second / bare.a_second:.2f}"
            f"   {rate.ms:>6.1f} ms of processor"
        )
    return {name: asdict(rate) for name, rate in rates.items()}


def _answering(options: argparse.Namespace) -> Any:
    from benchmarks.load import serving

    with tempfile.TemporaryDirectory() as folder:
        rates = serving.answering(Path(folder), options.messages, options.rounds)
    print("Turns answered by workers with the offline engine:")
    for workers, rate in rates.items():
        ratio = rate.a_second / rates[1].a_second
        print(
            f"  {workers} worker{'s' if workers > 1 else ' '}{rate.a_second:>13.1f} a second"
            f"  x {ratio:.2f}   {rate.ms:>6.1f} ms of processor"
        )
    return {workers: asdict(rate) for workers, rate in rates.items()}


def _turn(options: argparse.Namespace) -> Any:
    with _database():
        from benchmarks.load import filling, turns

        filling.publish()
        cost = turns.measure()
    print("One turn with the offline engine:")
    print(f"  taken {cost.taken_ms:>6.1f} ms of processor {cost.taken_queries:>4} queries at most")
    print(f"  run   {cost.run_ms:>6.1f} ms of processor {cost.run_queries:>4} queries at most")
    return asdict(cost)


def _growth(options: argparse.Namespace) -> Any:
    sizes = options.turns
    with _database():
        from benchmarks.load import growth, plot

        print("Requests over a longer history (least time; statements; pages of reading ones):")
        result = growth.measure(sizes)
        if options.plot:
            plot.draw(result, options.plot)
    print(f"  {'':<34}" + "".join(f"{size:>26,}" for size in sizes))
    for what in result[sizes[0]]:
        costs = [result[size][what] for size in sizes]
        columns = (f"{c.ms:>10.1f} ms {c.queries:>4} {c.pages:>7}" for c in costs)
        print(f"  {what:<34}" + " ".join(columns) + f"  x {growth.growth_of(result, what):.2f}")
    faster = list(growth.grown(result))
    for what in faster:
        print(f"\nFaster than the logarithm: {what}", *result[sizes[-1]][what].plans, sep="\n")
    return {
        "costs": {size: {w: asdict(c) for w, c in costs.items()} for size, costs in result.items()},
        "faster": faster,
    }


@contextmanager
def _database() -> Iterator[None]:
    """Set Django up, over a database that is removed again, with nobody limited."""
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.IEIM_RATES = dict.fromkeys(settings.IEIM_RATES)
    name = str(connection.settings_dict["NAME"])
    test = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        with connection.cursor() as cursor:
            # As docs/operating.md says for disks without a moving head.
            cursor.execute(f'ALTER DATABASE "{test}" SET random_page_cost = 1.1')
        connection.close()
        if hasattr(connection, "close_pool"):
            connection.close_pool()
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "taking": _taking,
    "answering": _answering,
    "turn": _turn,
    "growth": _growth,
}

if __name__ == "__main__":
    main()

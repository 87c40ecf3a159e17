"""What the audit chain costs, beside the same rows written and read without it.

    python benchmarks/bench_audit.py [--events N] [--json]

Each event of about 0.7 KB is recorded in a transaction of its own, as is each plain row; rounds of
both take turns, and the medians are compared. Uses a fresh test database of the configured kind
(``DATABASE_URL``), removed afterwards. Compare the ratios, not the rates: machines differ.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, ClassVar
from uuid import uuid4

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
django.setup()

from django.db import connection, models, transaction
from django.utils import timezone

from ieim.audit.canonical import JSONValue, canonical
from ieim.audit.services import record
from ieim.audit.verify import reading, verify_all

ROUNDS = 10


class PlainEvent(models.Model):
    """The baseline: what an event says, without a chain."""

    kind = models.CharField(max_length=64)
    actor = models.CharField(max_length=160)
    at = models.DateTimeField()
    payload = models.TextField()

    objects: ClassVar[models.Manager[PlainEvent]] = models.Manager()

    class Meta:
        app_label = "audit"
        managed = False  # made by hand below

    def __str__(self) -> str:
        return self.kind


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5000, help="events in all (default 5,000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        name = connection.settings_dict["NAME"]
        if connection.vendor == "sqlite":
            connection.settings_dict["TEST"]["NAME"] = str(Path(folder) / "bench.sqlite3")
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
        try:
            result = {"database": connection.vendor, **measure(max(1, options.events // ROUNDS))}
        finally:
            connection.creation.destroy_test_db(str(name), verbosity=0)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{connection.vendor}, {result['events']:,} events, medians of {ROUNDS} rounds")
    print(
        f"  recorded {result['recorded_a_second']:9,.0f} a second, plain insert "
        f"{result['inserted_a_second']:9,.0f}: {result['record_ratio']:.1f} times the time"
    )
    print(
        f"  verified {result['verified_a_second']:9,.0f} a second, plain read   "
        f"{result['read_a_second']:9,.0f}: {result['verify_ratio']:.1f} times the time"
    )


def measure(events: int) -> dict[str, Any]:
    """Return rates (a second) and ratios of times, with ``events`` a round."""
    with connection.schema_editor() as editor:
        editor.create_model(PlainEvent)

    payload: dict[str, JSONValue] = {
        "turn": str(uuid4()),
        "stage": "agency_detect_v1",
        "attempt": 1,
        "codes": ["evidence.not_found", "score.precision"],
        **{f"digest_{n}": f"{n}" * 64 for n in range(7)},
    }
    text = canonical(payload).decode()

    def insert() -> None:
        for _ in range(events):
            with transaction.atomic():
                PlainEvent.objects.create(
                    kind="stage.attempt", actor="system", at=timezone.now(), payload=text
                )

    def chain() -> None:
        session = uuid4()
        for _ in range(events):
            with transaction.atomic():
                record(chain=session, kind="stage.attempt", payload=payload, actor="system")

    insert()  # warm
    PlainEvent.objects.all().delete()
    inserting, recording = alternate(insert, chain)

    def read() -> None:
        rows = PlainEvent.objects.order_by("id").values_list("kind", "actor", "at", "payload")
        with reading():
            assert sum(1 for _ in rows.iterator()) == events * ROUNDS

    def verify() -> None:
        with reading():
            reports = list(verify_all())
        assert all(report.ok for report in reports)
        assert sum(report.events for report in reports) == events * ROUNDS

    reading_time, verifying = alternate(read, verify)
    total = events * ROUNDS
    return {
        "events": total,
        "recorded_a_second": round(events / recording),
        "inserted_a_second": round(events / inserting),
        "record_ratio": round(recording / inserting, 2),
        "verified_a_second": round(total / verifying),
        "read_a_second": round(total / reading_time),
        "verify_ratio": round(verifying / reading_time, 2),
    }


def alternate(one: Callable[[], None], other: Callable[[], None]) -> tuple[float, float]:
    """Return the median seconds of each function over rounds that take turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for function, times in zip((one, other), seconds, strict=True):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return median(seconds[0]), median(seconds[1])


if __name__ == "__main__":
    main()

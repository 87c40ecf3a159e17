"""What one stage costs beyond its model call: gate, evidence and audit at 2,000 characters.

Run with ``python benchmarks/stage.py [--json]``. The baselines run beside it in the same process:
checking the schema alone, as a plain application would, and inserting a row without a chain.
Figures are medians on the machine at hand; compare the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

CHARACTERS = 2000
ROUNDS = 400


def message() -> tuple[str, list[str]]:
    """Return a message of 2,000 characters and quotes from all over it."""
    words = "My passport was stolen in the tram on Monday and I need a new one before I travel. "
    text = (words * 30)[: CHARACTERS - 40] + " Please tell me what the replacement costs."
    text = text[-CHARACTERS:]
    quotes = [
        "replacement costs",
        "PASSPORT was  stolen",
        "tell me what",
        "before I travel",
        "tram",
    ]
    return text, quotes


def classify_answer(quotes: list[str]) -> str:
    """Return a classify answer whose every label has a quote."""

    def label(code: str, *snippets: str) -> dict[str, Any]:
        return {"label": code, "confidence": 0.91, "evidence_snippets": list(snippets)}

    return json.dumps(
        {
            "intents": [label("replace_lost", quotes[1]), label("fees_question", quotes[0])],
            "primary_intent": "replace_lost",
            "product_line": label("identity_documents", "in the tram"),
            "urgency": label("high", quotes[3]),
            "risk_flags": [label("fraud", quotes[2])],
        }
    )


def median_us(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median time of ``work`` in microseconds."""
    for _ in range(20):
        work()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def measure() -> list[tuple[str, float, str, float]]:
    """Return ``(what, microseconds, baseline, microseconds)`` rows."""
    from django.db import connection, transaction

    from ieim.audit import services as audit
    from ieim.audit.canonical import JSONValue
    from ieim.pipeline import contract as contracts
    from ieim.pipeline.gate import gate
    from ieim.pipeline.knowledge import Release
    from ieim.pipeline.ports import ModelAnswer
    from ieim.pipeline.stages.base import Context

    text, quotes = message()
    raw = classify_answer(quotes)
    contract = contracts.load("classify")
    answers = json.loads(raw)
    labels: dict[str, set[str]] = {
        "intents": {item["label"] for item in answers["intents"]},
        "product_lines": {answers["product_line"]["label"]},
        "urgencies": {answers["urgency"]["label"]},
        "risk_flags": {item["label"] for item in answers["risk_flags"]},
    }
    context = Context(
        attempt=1,
        user_prompt=text,
        cached_state={},
        release=Release(1, "0" * 64, {}, {}, {}),
        labels={name: frozenset(codes) for name, codes in labels.items()},
    )
    counter = iter(range(10**9))
    chain = uuid.uuid4()
    digest = "0" * 64
    payload: dict[str, JSONValue] = {
        "turn": str(chain),
        "stage": "classify",
        "attempt": 1,
        "request_sha256": digest,
        "raw_sha256": digest,
        "codes": [],
        "passed": True,
    }

    def judged() -> None:
        # A different text each time, so that no fold is reused between rounds.
        varied = f"{next(counter):06d} {text[7:]}"
        judgement = gate.judge(
            contract,
            ModelAnswer(raw),
            Context(**{**_fields(context), "user_prompt": varied}),
        )
        if not judgement.passed:
            raise AssertionError(judgement.findings)

    def schema_only() -> None:
        contract.validator.is_valid(json.loads(raw))

    def audited() -> None:
        with transaction.atomic():
            audit.record(chain=chain, kind="stage.attempt", actor="system", payload=payload)

    def plain_row() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("INSERT INTO plain (payload) VALUES (%s)", [json.dumps(payload)])

    def whole() -> None:
        judged()
        audited()

    def whole_baseline() -> None:
        schema_only()
        plain_row()

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, payload TEXT)")
    return [
        ("gate with evidence", median_us(judged), "schema alone", median_us(schema_only)),
        ("audit event", median_us(audited), "plain row", median_us(plain_row)),
        ("both", median_us(whole), "both", median_us(whole_baseline)),
    ]


def _fields(context: Any) -> dict[str, Any]:
    return {name: getattr(context, name) for name in context.__dataclass_fields__}


def main() -> None:
    """Measure on a fresh SQLite database and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IEIM_DATA_DIR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ["DJANGO_SETTINGS_MODULE"] = "ieim.config.settings"
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        rows = measure()
    if options.json:
        names = ("what", "microseconds", "baseline", "baseline_microseconds")
        print(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
        return
    print(f"One stage at {CHARACTERS:,} characters, SQLite, medians of {ROUNDS}:")
    for what, ours, baseline, theirs in rows:
        ratio = ours / theirs
        print(f"  {what:<20} {ours:>8.0f} µs   {baseline:<14} {theirs:>8.0f} µs   x {ratio:.1f}")


if __name__ == "__main__":
    main()

"""Redaction: what it takes for a message, as a ratio of one pass of a plain e-mail pattern.

    python benchmarks/bench_redaction.py [--json]

Messages of 2,000 characters: a citizen's plain question, one full of personal data, and the worst
that could be thought of. Medians over rounds; compare the ratios, not the milliseconds: machines
differ.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ieim.pipeline.personal.redaction import prepare

LENGTH = 2000
ROUNDS = 15
TARGET_MS = 10.0
EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")

PLAIN = (
    "I moved to a new town in March 2024 and want to know whether my car must be registered again. "
    "The old office asked for a fee of £40, and the tax year 2024 2025 has begun. What do I need? "
)
DENSE = (
    "I live at 12 Main Street, Springfield, IL 62704, my number is (202) 555-0143 and my mail is "
    "jo+tax@example.org. I was born on 3 May 1985, SSN 536-90-4399, IBAN DE89370400440532013000. "
)
TEXTS = {
    "a plain question": PLAIN,
    "full of personal data": DENSE,
    "worst: single digits": "1 ",
    "worst: groups of digits": "123 456 ",
    "worst: plus signs": "+1",
    "worst: birth words": "dob 1/1/",
    "worst: streets": "1 Aa St ",
    "worst: at signs": "a@",
    "worst: one long number": "9",
}


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result = {name: measure((piece * LENGTH)[:LENGTH]) for name, piece in TEXTS.items()}
    if options.json:
        print(json.dumps({"characters": LENGTH, "rounds": ROUNDS, "texts": result}))
        return
    print(
        f"{LENGTH:,} characters, medians of {ROUNDS} rounds; target {TARGET_MS:.0f} ms for people's"
    )
    for name, figures in result.items():
        print(
            f"  {name:24} {figures['ms']:6.2f} ms, {figures['ratio']:6.0f} times the e-mail "
            f"pattern, {figures['found']:3.0f} found"
        )


def measure(text: str) -> dict[str, float]:
    """Return the time (ms) of one message, its ratio to one plain pass, and what was found."""
    redaction = timed(lambda: prepare(text))
    baseline = timed(lambda: EMAIL.findall(text))
    return {
        "ms": round(redaction * 1e3, 3),
        "ratio": round(redaction / baseline, 1),
        "found": len(prepare(text).segments),
    }


def timed(function: Callable[[], object]) -> float:
    """Return the median seconds of a call, after one that is not counted."""
    function()
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return median(times)


if __name__ == "__main__":
    main()

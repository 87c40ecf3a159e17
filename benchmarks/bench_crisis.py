"""How many messages of people in danger are seen, and how many ordinary ones are flagged.

    python benchmarks/bench_crisis.py [--json]

By language and style: the phrases alone, and with the embedded model beside them, as a turn looks;
and of those how many are flagged so surely that the answer waits for a person.
The messages (questions/README.md says how they were made) taught nothing and chose nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
os.environ["IEIM_EMBEDDINGS"] = "embedded"

import django

if TYPE_CHECKING:
    from ieim.pipeline.message.risk import Risk

MESSAGES = Path(__file__).parent / "questions" / "crisis.jsonl"
AIMS = {"plain": 0.95, "indirect": 0.90, "ordinary": 0.02, "worried": 0.10}
"""Recall at least, and for messages of nobody in danger the share that may be flagged at most."""
NO_DANGER = ("ordinary", "worried")

Message = dict[str, Any]
Row = dict[str, str | int | float]


def rows(messages: Sequence[Message], risks_of: Callable[[str], Sequence[Risk]]) -> list[Row]:
    """Return a row a style and language: how many there are, seen at all, held for a person, with
    the right flag."""
    crises = {message["flag"] for message in messages} - {None}
    risks = {
        result["id"]: [r for r in risks_of(result["text"]) if r.code in crises]
        for result in messages
    }
    by_key = {key: {result.code for result in of_message} for key, of_message in risks.items()}
    sure = {key: any(not result.weak for result in of_message) for key, of_message in risks.items()}
    table: list[Row] = []
    for style in AIMS:
        of_style = [result for result in messages if result["style"] == style]
        for language in ("all", *sorted({result["language"] for result in of_style})):
            group = [result for result in of_style if language in ("all", result["language"])]
            seen = sum(bool(by_key[result["id"]]) for result in group)
            total = sum(sure[result["id"]] for result in group)
            right = sum(result["flag"] in by_key[result["id"]] for result in group)
            table.append(
                {
                    "style": style,
                    "language": language,
                    "messages": len(group),
                    "flagged": seen / len(group),
                    "held": total / len(group),
                    "right flag": right / len(group),
                }
            )
    return table


def measure() -> dict[str, Any]:
    """Return the rows by what looked, and the milliseconds that meaning takes."""
    from ieim.knowledge import crisis
    from ieim.pipeline.message import risk

    with MESSAGES.open(encoding="utf-8") as lines:
        messages = [json.loads(line) for line in lines]
    started = time.process_time()
    if crisis.screen_fully("ready").by == "words":
        raise SystemExit("The embedded model is not there: install requirements/base.txt.")
    loaded = time.process_time() - started
    times = []

    def meant(text: str) -> list[Risk]:
        before = time.perf_counter()
        risks = crisis.screen_fully(text).risks
        times.append((time.perf_counter() - before) * 1000)
        return risks

    return {
        "phrases": rows(messages, risk.find),
        "phrases and meaning": rows(messages, meant),
        "a message, ms at the median": median(times),
        "load, s of CPU": loaded,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    django.setup()
    result = measure()
    if options.json:
        print(json.dumps(result, indent=2))
        return
    heads = f"{'messages':>9}{'phrases':>9}{'+ meaning':>11}{'held':>7}{'right flag':>12}{'aim':>8}"
    print(f"{'':24}{heads}")
    pairs = zip(result["phrases"], result["phrases and meaning"], strict=True)
    for before, after in pairs:
        style = after["style"]
        aim = f"{'<=' if style in NO_DANGER else '>='} {AIMS[style]:.2f}"
        right = "" if style in NO_DANGER else f"{after['right flag']:.2f}"
        print(
            f"{style:12}{after['language']:12}{after['messages']:9}{before['flagged']:9.2f}"
            f"{after['flagged']:11.2f}{after['held']:7.2f}{right:>12}{aim:>8}"
        )
    for name in ("a message, ms at the median", "load, s of CPU"):
        print(f"{name}: {result[name]:.1f}")


if __name__ == "__main__":
    main()

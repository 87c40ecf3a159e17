"""Talks that a citizen steers in words, over the demo knowledge: how each later message ends.

Run with ``python benchmarks/bench_talks.py [-v] [FILE]``. Each talk of ``questions/steering.yaml``
goes on as it should have, whatever the engine said. Those talks were written for development: their
figures say whether something broke. How good it is, ``questions/talks_2.yaml`` says, whose author
knew nothing of the engine.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

QUESTIONS = ROOT / "benchmarks" / "questions" / "steering.yaml"
DEMO = ROOT / "ieim" / "knowledge" / "demo"


def measure(questions: Path, *, verbose: bool) -> dict[str, Counter[str]]:
    """Play every talk; returns the ends of first messages, later ones, and small talk."""
    from benchmarks.bench_answers import Engine
    from ieim.knowledge.bundles.bundle import read_bundle
    from ieim.search.embedders import build_embedder

    release = read_bundle(DEMO).release()
    engine = Engine(release, build_embedder({"KIND": "embedded"}))
    keys = {
        service.key.split(".")[1]: (service.agency, service.key)
        for service in release.services.values()
    }
    kinds = ("first", "later", "outside", "small talk")
    by_key: dict[str, Counter[str]] = {name: Counter() for name in kinds}
    for talk in yaml.safe_load(questions.read_text(encoding="utf-8")):
        history: list[dict[str, Any]] = []
        for entry in talk:
            if "offer" in entry:
                offered = [_named(*keys[name]) for name in entry["offer"]]
                history.append({"role": "user", "text": "I need something"})
                history.append({"role": "assistant", "text": "", "offered": offered})
                continue
            values = [entry["is"]] if isinstance(entry["is"], str) else entry["is"]
            result = engine.answer(entry["say"], history)
            end = _end(result, {keys[name][1] for name in values if name in keys}, values)
            usual = "later" if history else "first"
            kind = {"G": "small talk", "O": "outside"}.get(values[0], usual)
            by_key[kind][end] += 1
            if verbose and end != "right":
                print(f"{end:12} {entry['say']!r} wanted {values}")
            history.append({"role": "user", "text": entry["say"]})
            history.append(_answer([keys[name] for name in values if name in keys], release))
    return by_key


def _named(agency: str, service: str) -> dict[str, str]:
    return {"agency": agency, "service": service}


def _answer(services: list[tuple[str, str]], release: Any) -> dict[str, Any]:
    if not services:
        return {"role": "assistant", "text": "You are welcome."}
    first = release.services[services[0]]
    item = {"role": "assistant", "text": f"{first.name}. {first.overview}"[:240]}
    item |= _named(*services[0])
    return item | ({"services": [_named(*s) for s in services]} if len(services) > 1 else {})


def _end(result: Any, services: set[str], wanted: list[str]) -> str:
    if wanted == ["*"]:
        return "right"
    if wanted == ["G"]:
        return "right" if result.outcome == "guidance" else "wrong"
    if wanted == ["O"]:
        results = result.outcome == "outside"
        return "right" if results else "wrong" if result.outcome == "answered" else "no help"
    if result.outcome == "answered":
        return "right" if {key for _, key in result.cited} <= services else "wrong"
    matches = result.outcome == "asked"
    return "asked right" if matches and services & {k for _, k in result.offered} else "no help"


def main() -> None:
    """Play the talks without a database of its own, and print how they end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is not right")
    parser.add_argument("file", type=Path, nargs="?", default=QUESTIONS, help="the talks to play")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IEIM_DATA_DIR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ["DJANGO_SETTINGS_MODULE"] = "ieim.config.settings"
        import django

        django.setup()
        logging.disable(logging.CRITICAL)
        for kind, ends in measure(options.file, verbose=options.verbose).items():
            total = sum(ends.values()) or 1
            shares = ", ".join(f"{end} {count / total:.2f}" for end, count in ends.most_common())
            print(f"{kind} ({total}): {shares}")


if __name__ == "__main__":
    main()

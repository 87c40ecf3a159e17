"""Whether a life event gets its checklist, and one question its service, by the offline engine.

    python benchmarks/bench_situations.py [--data FILE ...] [--list]

``benchmarks/questions/events.jsonl`` and ``events_b.jsonl`` have messages by two authors who saw
the names of the demo's situations and services and nothing else. An ``event`` tells of a situation,
a ``beside`` asks one thing and tells of one, a ``single`` asks one thing; a ``talk`` is not asked
here. The engine answers each message in a talk of its own. Per kind and language: the right
checklist is open, folded or an option of a question back, or another one is; and whether the
service that is meant leads. The baseline is the release without situations.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from ieim.pipeline.work import Outcome

QUESTIONS = ROOT / "benchmarks" / "questions"
FILES = (QUESTIONS / "events.jsonl", QUESTIONS / "events_b.jsonl")
DEMO = ROOT / "ieim" / "knowledge" / "demo"

Row = Mapping[str, Any]


def shown(outcome: Outcome | None) -> tuple[str, list[str]]:
    """Return how a checklist is shown (``open``, ``folded``, ``option`` or empty), and its key, or
    those of two that are offered."""
    from ieim.pipeline.work import Abstained

    if isinstance(outcome, Abstained):
        return "option" if outcome.situations else "", [
            situation.key for situation in outcome.situations
        ]
    reply = getattr(outcome, "reply", None)
    if reply is None or reply.situation is None:
        return "", []
    return "open" if reply.situation.is_open else "folded", [reply.situation.key]


def leads(outcome: Outcome | None) -> list[str]:
    """Return the service that an answer is about, or those that are offered."""
    from ieim.pipeline.work import Abstained

    if isinstance(outcome, Abstained):
        return [f"{entry.agency}/{entry.key}" for entry in outcome.offered]
    reply = getattr(outcome, "reply", None)
    return [source.reference for source in reply.sources] if reply else []


def ends(row: Row, outcome: Outcome | None) -> Iterator[str]:
    """Yield what becomes of a message, as names of what is counted."""
    from ieim.pipeline.work import Abstained, Answered

    how, keys = shown(outcome)
    if how:
        yield f"{'wrong' if set(keys).isdisjoint(row['situations']) else 'right'} {how}"
    services = [entry for entry in [row["service"], *row.get("services", [])] if entry]
    result = leads(outcome)
    if isinstance(outcome, Abstained):
        yield "asked back"
        yield from ["among options"] if set(result) & set(services) else []
    elif result and services:
        yield "leads right" if result[0] in services else "leads wrong"
    elif isinstance(outcome, Answered) and not result:
        yield "none of our services"


def report(rows: Iterable[tuple[Row, Outcome | None]], *, listed: bool) -> None:
    """Print the shares of each kind, in English and in other languages."""
    groups: dict[str, list[tuple[Row, Outcome | None]]] = {}
    for row, outcome in rows:
        name = row["kind"] if row["lang"] == "en" else f"{row['kind']}, other languages"
        groups.setdefault(name, []).append((row, outcome))
    for name, group in groups.items():
        counts = Counter(end for row, outcome in group for end in ends(row, outcome))
        right = sum(counts[f"right {how}"] for how in ("open", "folded", "option"))
        wrong = sum(counts[f"wrong {how}"] for how in ("open", "folded", "option"))
        of = len(group)
        print(f"{name} ({of}): right checklist {right / of:.2f}, another {wrong / of:.2f}")
        print("   " + ", ".join(f"{end} {count / of:.2f}" for end, count in sorted(counts.items())))
        for row, outcome in group if listed else ():
            how, keys = shown(outcome)
            print("  ", how, *keys, "|", *leads(outcome)[:2], "|", row["text"][:90])


def main() -> None:
    """Ask every message of the release with its situations, and without."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, nargs="*", default=FILES)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/db.sqlite3"
        import django

        django.setup()
        from benchmarks.bench_answers import Engine
        from ieim.knowledge.bundles.bundle import read_bundle
        from ieim.search.embedders import build_embedder

        release = read_bundle(DEMO).release()
        results = tuple(question for question in release.questions if not question.situation)
        bare = replace(release, situations={}, questions=results, sha256="0" * 64)
        embedder = build_embedder({"KIND": "embedded"})
        for path in options.data:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            rows = [row for row in rows if row["kind"] != "talk"]
            for name, knowledge in (("with situations", release), ("without", bare)):
                engine = Engine(knowledge, embedder)
                print(f"{path.name}, {name}")
                outcomes = [(row, engine.turn(row["text"]).outcome) for row in rows]
                report(outcomes, listed=options.list and knowledge is release)


if __name__ == "__main__":
    main()

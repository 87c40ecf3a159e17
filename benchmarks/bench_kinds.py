"""What a message is: how well ``ieim.search.kinds`` tells its kind.

    python benchmarks/bench_kinds.py [--json] [--data FOLDER]

First the examples, each judged by the others: with one language left out, and with a tenth left
out. Then messages that taught nothing and chose nothing (questions/README.md).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.pipeline.kinds import INQUIRIES
from ieim.search import kinds
from ieim.search.embedders import EmbeddedEmbedder

QUESTIONS = Path(__file__).parent / "questions"
DATA = ROOT.parent / "shared" / "data"
FIRST: Final = ("demo", "own_words", "ca", "us_life_events")
TALKS: Final = ("goes-on", "turns", "corrects", "absent", "thanks")

Row = dict[str, Any]


def messages(path: Path) -> list[Row]:
    """Return the cases of a file; none where it is not on this machine."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_examples(embedder: EmbeddedEmbedder) -> list[Row]:
    """Return by kind the share of the examples that are told rightly."""
    rows = [
        (text, kind, language, place % 10)
        for kind, languages in kinds.examples().items()
        for language, texts in languages.items()
        for place, text in enumerate(texts)
    ]
    names = list(kinds.examples())
    vectors = embedder.documents([row[0] for row in rows]).astype(np.float64)
    truth = np.array([names.index(row[1]) for row in rows])
    table = []
    for left_out, groups in (("language", [r[2] for r in rows]), ("tenth", [r[3] for r in rows])):
        right = kinds.left_out(vectors, truth, np.array(groups)).argmax(axis=1) == truth
        shares = {name: float(right[truth == place].mean()) for place, name in enumerate(names)}
        read = np.array([row[2] != "fil" for row in rows])  # the embedded model does not
        table.append({"left out": left_out, "all": float(right.mean()), **shares})
        table[-1]["without Filipino"] = float(right[read].mean())
    return table


def of_set(name: str, cases: Sequence[Row], embedder: EmbeddedEmbedder) -> Row:
    """Return how often the best kind of a message of ``cases`` asks nothing, and how often each is
    the best."""
    model = kinds.shipped()
    texts = [case["text"] for case in cases]
    results = [model.of(v, t) for v, t in zip(embedder.queries(texts), texts, strict=True)]
    best = Counter(max(shares, key=lambda kind: shares[kind]) for shares in results)
    total = sum(best[kind] for kind in INQUIRIES)
    return {
        "set": name,
        "messages": len(cases),
        "best kind asks nothing": 1 - total / len(results),
        "best": dict(best.most_common()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    embedder = EmbeddedEmbedder()
    sets = {name: messages(QUESTIONS / f"{name}.jsonl") for name in FIRST}
    sets["inquiries"] = messages(options.data / "cases" / "inquiries.jsonl")
    sets = {name: [case for case in cases if not case["history"]] for name, cases in sets.items()}
    sets["not_inquiries"] = messages(options.data / "cases" / "not_inquiries.jsonl")
    talks = messages(QUESTIONS / "demo_talks.jsonl")
    for tag in TALKS:
        sets[f"talks: {tag}"] = [case for case in talks if tag in case["tags"]]
    table = by_examples(embedder)
    rest = [of_set(name, cases, embedder) for name, cases in sets.items() if cases]
    if options.json:
        print(json.dumps({"examples": table, "sets": rest}))
        return
    for row in table:
        print(
            "  ".join(
                f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()
            )
        )
    print()
    for row in rest:
        share = f"{row['best kind asks nothing']:.3f}"
        print(f"{row['set']:16} {row['messages']:4}  {share}  {row['best']}")


if __name__ == "__main__":
    main()

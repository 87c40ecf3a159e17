"""How often the passage that answers a question about a service leads its answer.

    python benchmarks/bench_passages.py [--fit] [--json]

``benchmarks/questions/passages.jsonl`` has questions about services of the demo with the words of
the passage that answers each, none where the entry does not say it. Beside the ranking stands what
came before it: the whole of each field that a question clearly asks for. ``--fit`` fits the weights
of :mod:`ieim.search.passages`, an eighth of the services left out at a time, and prints what the
left out ones say; the questions that teach the fields stand beside these, at a fifth of the weight.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")

from ieim.search import examples, inquiry, passages
from ieim.search.embedders import CheckedEmbedder, build_embedder

Numbers = NDArray[np.float64]

FOLDS, TAUGHT, STEPS = 8, 0.2, 400
QUESTIONS = ROOT / "benchmarks" / "questions" / "passages.jsonl"
DEMO = ROOT / "ieim" / "knowledge" / "demo"


@dataclass(frozen=True)
class Asked:
    """A question about a service: ``features`` and ``right`` have a row for each passage;
    ``fields`` are those that it clearly asks for."""

    service: str
    features: Numbers
    right: NDArray[np.bool_]
    of_field: Sequence[str]
    fields: Sequence[str]
    weight: float = 1.0


def read(embedder: CheckedEmbedder) -> list[Asked]:
    """Return the questions, and behind them those that teach the fields."""
    from ieim.knowledge.bundles.bundle import read_bundle

    services = read_bundle(DEMO).release().services
    by_key = {service.key: service for service in services.values()}
    lines = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    asked: list[tuple[str, str, Sequence[str], str, float]] = [
        (each["service"], each["text"], each["says"], "", 1.0) for each in lines
    ]
    choose = random.Random(5)  # noqa: S311  # which service a question is about, the same each time
    keys = sorted({each["service"] for each in lines})
    for text, field in examples.questions():
        if field in passages.FIELDS and field != "overview":
            asked.append((choose.choice(keys), text, (), field, TAUGHT))
    reading = inquiry.shipped()
    vectors = embedder.queries([text for _, text, *_ in asked])
    entries = {
        key: passages.read(
            by_key[key],
            embedder.documents([text for _, text in passages.of_service(by_key[key])]),
        )
        for key in keys
    }
    return [
        Asked(
            key,
            entries[key].features(text, vector, reading.asks(vector)),
            np.array(
                [
                    name == field if field else any(words in said for words in says)
                    for name, said in entries[key].passages
                ]
            ),
            [name for name, _ in entries[key].passages],
            reading.fields(vector),
            weight,
        )
        for (key, text, says, field, weight), vector in zip(asked, vectors, strict=True)
    ]


def fit(asked: Sequence[Asked]) -> Numbers:
    """Return weights under which the right passages get most of the probability."""
    weights = np.zeros(len(passages.WEIGHTS))
    told = [each for each in asked if each.right.any()]
    whole = sum(each.weight for each in told)
    for _ in range(STEPS):
        slope = 0.006 * weights
        for each in told:
            scores = each.features @ weights
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            right = each.right * likely
            slope -= each.weight * each.features.T @ (right / right.sum() - likely) / whole
        weights -= slope
    return weights


def left_out(asked: Sequence[Asked]) -> list[Numbers]:
    """Return the scores of each question's passages by weights that its service had no part in."""
    keys = sorted({each.service for each in asked})
    fold = {key: place % FOLDS for place, key in enumerate(keys)}
    weights = [fit([each for each in asked if fold[each.service] != f]) for f in range(FOLDS)]
    return [each.features @ weights[fold[each.service]] for each in asked]


def told(asked: Sequence[Asked], scores: Sequence[Numbers]) -> Mapping[str, float]:
    """Return what becomes of the questions by these scores."""
    said = [(a, s) for a, s in zip(asked, scores, strict=True) if a.right.any()]
    not_said = [s.max() for a, s in zip(asked, scores, strict=True) if not a.right.any()]
    best = [s.max() for _, s in said]
    found = {
        "first": float(np.mean([a.right[s.argmax()] for a, s in said])),
        "among two": float(np.mean([a.right[np.argsort(-s)[:2]].any() for a, s in said])),
        "refused, though said": float(np.mean([b < passages.LEAST for b in best])),
        "sure": float(np.mean([b >= passages.SURE for b in best])),
    }
    if not_said:
        found["refused, not said"] = float(np.mean([b < passages.LEAST for b in not_said]))
        found["sure, not said"] = float(np.mean([b >= passages.SURE for b in not_said]))
    return found


def before(asked: Sequence[Asked]) -> Mapping[str, float]:
    """Return the same for the fields that the questions clearly ask for, each as a whole."""

    def opened(each: Asked, most: int) -> bool:
        return any(
            right and name in each.fields[:most]
            for right, name in zip(each.right, each.of_field, strict=True)
        )

    said = [each for each in asked if each.right.any()]
    return {
        "first": float(np.mean([opened(each, 1) for each in said])),
        "among two": float(np.mean([opened(each, 2) for each in said])),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fit", action="store_true", help="fit the weights anew, and print them")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    import django

    django.setup()
    embedder = build_embedder({"KIND": "embedded"})
    assert embedder is not None
    asked = read(embedder)
    own = [each for each in asked if each.weight == 1.0]
    rows: dict[str, Any] = {
        "whole fields (before)": before(own),
        "ranked": told(own, [each.features @ passages.WEIGHTS for each in own]),
    }
    if options.fit:
        scores = left_out(asked)
        rows["ranked, its service left out"] = told(own, scores[: len(own)])
        rows["questions that name a field"] = told(asked[len(own) :], scores[len(own) :])
        rows["weights"] = [round(float(each), 2) for each in fit(asked)]
        ends = [s.max() for a, s in zip(own, scores, strict=False) if a.right.any()]
        rows["tenths of the best scores"] = (
            np.quantile(ends, np.arange(0, 1, 0.1)).round(2).tolist()
        )
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for name, row in rows.items():
        print(
            f"{name:32}",
            row if isinstance(row, list) else "  ".join(f"{k} {v:.2f}" for k, v in row.items()),
        )


if __name__ == "__main__":
    main()

"""How well the ranking puts services in order, how sure it is, and what a question costs.

    python benchmarks/bench_ranking.py [--data FOLDER] [--words] [--fit]

FOLDER (default: ../shared/data) has ``catalogues/``, ``cases/`` and ``demo_questions/``; without it
only the demo is ranked. ``--fit`` fits the weights of :mod:`ieim.search.ranking` anew on the
development halves (see ``answer_sets``) and on example questions of which each author's are left
out in turn, and prints what they do for a catalogue that was left out. ``--words`` ranks by words.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.answer_sets import held_out
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.llm.engine.thresholds import SURE_ENOUGH
from ieim.pipeline.knowledge import ExampleQuestion, Release
from ieim.pipeline.ports import Query
from ieim.search import Search, fuse
from ieim.search import kinds as reading
from ieim.search.embedders import build_embedder
from ieim.search.ranking import background

DEMO = ROOT / "ieim" / "knowledge" / "demo"
DATA = ROOT.parent / "shared" / "data"
QUESTIONS = ROOT / "benchmarks" / "questions"
AUTHORS = ("first", "second", "third")
OF_DEMO = ("demo", "own_words", "languages", "outside", "outside_b")
CATALOGUES = ("us", "us_life_events", "ca")

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A first question, the keys of its right services, and whether it is held out."""

    text: str
    right: frozenset[str]
    held: bool = True


def read(path: Path) -> list[Asked]:
    """Read the first questions of a file of cases that are not vague."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["history"] and "vague" not in row["tags"]:
            right = row["expected"]["acceptable_services"] or [row["expected"]["service"]]
            result = held_out(row["id"], row.get("source", ""))
            records.append(Asked(row["text"], frozenset(filter(None, right)), result))
    return records


def row(name: str, search: Search, asked: Sequence[Asked]) -> str:
    """Return a line of the table."""
    rankings = [search.rank(Query(entry.text)) for entry in asked]
    keys = [[r.item.key for r in ranking.services(limit=12)] for ranking in rankings]
    inside = [i for i, entry in enumerate(asked) if entry.right]
    outside = [i for i, entry in enumerate(asked) if not entry.right]
    results = [
        np.mean([bool(asked[i].right & set(keys[i][:many])) for i in inside]) if inside else 0.0
        for many in (1, 4, 12)
    ]
    answered = [i for i, ranking in enumerate(rankings) if ranking.first >= SURE_ENOUGH]
    wrong = sum(keys[i][0] not in asked[i].right for i in answered) / len(asked)
    turned_away = np.mean([rankings[i].outside >= 0.5 for i in inside]) if inside else 0.0
    result = np.mean([rankings[i].outside >= 0.5 for i in outside]) if outside else 0.0
    shares = (*results, len(answered) / len(asked), wrong, turned_away, result)
    return f"{name:24}{len(asked):>6}" + "".join(f"{share:9.3f}" for share in shares)


class Fit:
    """Fits a conditional logit with "none of them" as one more choice, by Adam."""

    most = 60
    """The services of a question that are compared, by the present weights."""

    def __init__(self) -> None:
        self.sets: dict[str, tuple[Numbers, NDArray[np.bool_], Numbers, float]] = {}

    def add(self, name: str, search: Search, asked: Sequence[Asked], weight: float) -> None:
        """Add questions to learn from; those of a set count ``weight`` together."""
        rows, right, likeness = [], [], []
        has_questions = search._has_questions
        for entry in asked:
            vector = search._embed([entry.text])
            features, none = search.features(entry.text, None if vector is None else vector[0])
            places = [search.places[k] for k in search.places if k[1] in entry.right]
            ranked = search.rank(Query(entry.text)).services(limit=self.most)
            chosen = list(
                dict.fromkeys(
                    [*places[:4], *(search.places[r.item.agency, r.item.key] for r in ranked)]
                )
            )[: self.most]
            block = np.zeros((self.most, 2 * features.shape[1] + 1))
            picked, asks = features[chosen], has_questions[chosen]
            block[: len(chosen), : features.shape[1]] = picked * asks[:, None]
            block[: len(chosen), features.shape[1] : -1] = picked * ~asks[:, None]
            block[len(chosen) :, -1] = 1.0
            rows.append(block)
            right.append(
                [*(place in places for place in chosen), *[False] * (self.most - len(chosen))]
            )
            likeness.append(none)
        self.sets[name] = (np.array(rows), np.array(right), np.array(likeness), weight)

    def weights(self, without: str = "", steps: int = 800) -> tuple[Numbers, Numbers]:
        """Return the weights (with and without questions, behind one another) and those of "none
        of them", fitted on all sets but those whose name begins with ``without``."""
        used = [s for name, s in self.sets.items() if not (without and name.startswith(without))]
        width = used[0][0].shape[2] - 1
        values = np.zeros(width + 2)
        values[0] = values[width // 2] = 8.0
        moments = [np.zeros_like(values), np.zeros_like(values)]
        fixed = np.array([name in FIXED for name in range(width)] + [False, False])
        for step in range(1, steps + 1):
            gradient = np.zeros_like(values)
            for rows, right, likeness, weight in used:
                scores = rows[:, :, :-1] @ values[:-2] - 1e9 * rows[:, :, -1]
                none = values[-2] + values[-1] * likeness
                both = np.concatenate([scores, none[:, None]], axis=1)
                powers = np.exp(both - both.max(axis=1, keepdims=True))
                guess = powers / powers.sum(axis=1, keepdims=True)
                nothing = right.sum(axis=1, keepdims=True) == 0
                result = guess * np.concatenate([right, nothing], axis=1)
                result /= np.maximum(result.sum(axis=1, keepdims=True), 1e-12)
                error = (guess - result) * weight / len(rows)
                gradient[:-2] += np.einsum("ij,ijf->f", error[:, :-1], rows[:, :, :-1])
                gradient[-2] += error[:, -1].sum()
                gradient[-1] += (error[:, -1] * likeness).sum()
            gradient[:-2] += 1e-3 * values[:-2]
            gradient[fixed] = 0.0
            values[fixed] = 0.0
            moments[0] = 0.9 * moments[0] + 0.1 * gradient
            moments[1] = 0.999 * moments[1] + 0.001 * gradient**2
            first, second = moments[0] / (1 - 0.9**step), moments[1] / (1 - 0.999**step)
            values -= 0.3 * first / (np.sqrt(second) + 1e-9)
        return values[:-2], values[-2:]


FIXED = frozenset({3, 6, 8, 9})
"""Weights that are nothing: name and best share where there are questions, and those of questions
where there are none."""


def demo_by_author(data: Path) -> dict[str, list[ExampleQuestion]]:
    """Return the example questions by their author."""
    fields = {}
    for name in (*AUTHORS, "languages"):
        lines = (data / "demo_questions" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = map(json.loads, lines)
        fields[name] = [
            ExampleQuestion(r["agency"], r["service"], r["lang"], r["text"]) for r in rows
        ]
    return fields


def learn(fit: Fit, data: Path, releases: Mapping[str, Release]) -> None:
    """Add every set to learn from."""
    embedder, kinds = build_embedder({"KIND": "embedded"}), reading.shipped()
    assert embedder is not None
    authors = demo_by_author(data)
    demo = replace(releases["demo"], questions=())
    by_key = {
        name: [Asked(q.text, frozenset({q.service})) for q in questions]
        for name, questions in authors.items()
    }
    for name, weight in (*((a, 1.0) for a in AUTHORS), ("languages", 0.7)):
        others = tuple(q for a in authors if a != name for q in authors[a])
        search = fuse(replace(demo, questions=others), embedder, kinds)
        fit.add(f"demo, {name}", search, by_key[name], weight)
    bare = fuse(demo, embedder, kinds)
    fit.add("demo, no questions", bare, [q for a in AUTHORS for q in by_key[a]], 0.5)
    fit.add("demo, no questions, languages", bare, by_key["languages"], 0.2)
    whole = fuse(
        replace(demo, questions=tuple(q for a in authors.values() for q in a)), embedder, kinds
    )
    lines = [Asked(line, frozenset()) for line in background()]
    for name, search, weight in (("demo, outside", whole, 1.0), ("demo, bare outside", bare, 0.3)):
        add_outside(fit, name, search, lines, weight)
    for name in CATALOGUES:
        cases = read(_cases(data, name))
        fit.add(name, fuse(releases[name], embedder, kinds), [c for c in cases if not c.held], 1.0)


def add_outside(fit: Fit, name: str, search: Search, lines: Sequence[Asked], weight: float) -> None:
    """Add the lines of the background, each without itself."""
    fit.add(name, search, lines, weight)
    rows, right, _, _ = fit.sets[name]
    vectors = search._embed([line.text for line in lines])
    if vectors is None:
        raise SystemExit("The embedded model is needed.")
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, -1.0)
    fit.sets[name] = (rows, right, alike.max(axis=1).astype(np.float64), weight)


def _cases(data: Path, name: str) -> Path:
    return data / "cases" / "inquiries.jsonl" if name == "us" else QUESTIONS / f"{name}.jsonl"


def searches(releases: Mapping[str, Release], *, words: bool) -> Iterator[tuple[str, Search]]:
    """Yield the search over each release."""
    embedder = None if words else build_embedder({"KIND": "embedded"})
    for name, release in releases.items():
        search = Search(release) if embedder is None else fuse(release, embedder, reading.shipped())
        yield name, search


def main() -> None:
    """Print the table, or the fitted weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--words", action="store_true", help="rank by words alone")
    parser.add_argument("--fit", action="store_true", help="fit the weights anew")
    options = parser.parse_args()
    releases = {"demo": read_bundle(DEMO).release()}
    if options.data.is_dir():
        folder = options.data / "catalogues"
        releases |= {name: read_bundle(folder / name).release() for name in CATALOGUES}
    if options.fit:
        fit = Fit()
        learn(fit, options.data, releases)
        for left in ("", "demo", *CATALOGUES):
            values, none = fit.weights(left)
            print(
                f"without {left}:" if left else "all:",
                values.round(2).tolist(),
                none.round(2).tolist(),
            )
        return
    heads = ("cases", "first", "four", "twelve", "answered", "wrong", "away", "outside")
    print(f"{'':24}{heads[0]:>6}" + "".join(f"{head:>9}" for head in heads[1:]))
    for name, search in searches(releases, words=options.words):
        sets = [(s, QUESTIONS / f"{s}.jsonl") for s in OF_DEMO]
        for label, path in sets if name == "demo" else [(name, _cases(options.data, name))]:
            text = read(path)
            print(row(label, search, text))
            if name == "us":
                print(row("us, held out", search, [entry for entry in text if entry.held]))
        start = perf_counter()
        for number in range(100):
            search.rank(Query(f"how do I renew my licence, number {number}"))
        print(f"  {name}: {len(search.services)} services, {10 * (perf_counter() - start):.1f} ms")


if __name__ == "__main__":
    main()

"""The shortlist of services: time a question, beside a plain scan, at two sizes of catalogue.

    python benchmarks/bench_shortlist.py [--json]

The catalogues are made from the demo knowledge: its services again and again, each with its words
in another order and some of them exchanged. The questions are the demo's own, and one message of
2,000 characters. The scan counts, for every service, which of a question's words stand somewhere in
its text. Both return the 20 best and are timed in turns. Compare the ratios, not the milliseconds:
machines differ.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import nlargest
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.pipeline.knowledge import Release, Service
from ieim.search import ReleaseIndex

DEMO = ROOT / "ieim" / "knowledge" / "demo"
SIZES = (450, 5_500)
LIMIT = 20
LONGEST = 2_000
ROUNDS = 3
TARGET_MS = 5.0

Search = Callable[[str], Sequence[str]]
"""The keys of the best services for a question, best first."""


@dataclass(frozen=True, slots=True)
class Result:
    """One size of catalogue. Times are milliseconds, medians over the questions."""

    services: int
    build_ms: float
    index_ms: float
    index_long_ms: float
    scan_ms: float
    scan_long_ms: float

    @property
    def times_faster(self) -> float:
        """How many times the scan's time the index saves."""
        return self.scan_ms / self.index_ms


def catalogue(size: int) -> Release:
    """The demo's services and shuffled copies of them, ``size`` in all, the same every time."""
    demo = read_bundle(DEMO)
    chance = random.Random(size)  # noqa: S311 - no secret
    vocabulary = [word for service in demo.services for word in service.overview.split()]
    services = list(demo.services)
    while len(services) < size:
        original = demo.services[len(services) % len(demo.services)]
        key = f"copy-{len(services)}"
        services.append(_copy(original, key, vocabulary, chance))
    whole = Bundle(demo.agencies, demo.dictionary, tuple(services), demo.labels, own_labels=True)
    return whole.release()


def _copy(service: Service, key: str, vocabulary: list[str], chance: random.Random) -> Service:
    def shuffled(text: str) -> str:
        words = [w if chance.random() < 0.5 else chance.choice(vocabulary) for w in text.split()]
        chance.shuffle(words)
        return " ".join(words)

    return replace(
        service,
        key=key,
        name=shuffled(service.name),
        overview=shuffled(service.overview),
        applicability_summary=shuffled(service.applicability_summary),
        requirements=tuple(map(shuffled, service.requirements)),
        how_to_apply=tuple(map(shuffled, service.how_to_apply)),
    )


def scan(release: Release) -> Search:
    """The baseline: count words in lower-cased text, service by service."""
    texts = {
        service.key: "\n".join(
            (
                service.name,
                service.overview,
                service.applicability_summary,
                *service.requirements,
                *service.how_to_apply,
                service.fees,
                service.contact,
            )
        ).lower()
        for service in release.services.values()
    }

    def search(question: str) -> Sequence[str]:
        words = {word.strip(".,?!").lower() for word in question.split()}
        counts = {key: sum(word in text for word in words) for key, text in texts.items()}
        return nlargest(LIMIT, counts, key=counts.__getitem__)

    return search


def indexed(index: ReleaseIndex) -> Search:
    """The index of this project."""

    def search(question: str) -> Sequence[str]:
        found = index.services(question, agencies=None, limit=LIMIT)
        return [each.item.key for each in found]

    return search


def measure(size: int) -> Result:
    """Time index and scan on the same questions."""
    release = catalogue(size)
    started = perf_counter()
    index = ReleaseIndex(release)
    build = perf_counter() - started
    asked = questions()
    message = " ".join(asked)
    long = (message * (LONGEST // len(message) + 1))[:LONGEST]
    searches = {"index": indexed(index), "scan": scan(release)}
    times: dict[str, list[float]] = {name: [] for name in searches}
    long_times: dict[str, list[float]] = {name: [] for name in searches}
    for _ in range(ROUNDS):
        for text in asked:
            for name, search in searches.items():
                times[name].append(timed(search, text))
        for name, search in searches.items():
            long_times[name].append(timed(search, long))
    return Result(
        services=size,
        build_ms=1e3 * build,
        index_ms=1e3 * median(times["index"]),
        index_long_ms=1e3 * median(long_times["index"]),
        scan_ms=1e3 * median(times["scan"]),
        scan_long_ms=1e3 * median(long_times["scan"]),
    )


def questions() -> list[str]:
    """The demo's example questions."""
    lines = (DEMO / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def timed(search: Search, text: str) -> float:
    """Seconds that ``search`` takes for ``text``."""
    started = perf_counter()
    search(text)
    return perf_counter() - started


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    results = [measure(size) for size in SIZES]
    if options.json:
        rows = [{**asdict(r), "times_faster": r.times_faster} for r in results]
        print(json.dumps({"target_ms": TARGET_MS, "results": rows}))
        return
    for result in results:
        print(f"{result.services:,} services, built in {result.build_ms:.0f} ms")
        print(
            f"  index {result.index_ms:7.2f} ms a question, {result.index_long_ms:7.2f} ms for "
            f"{LONGEST:,} characters (aim: {TARGET_MS:g} ms)"
        )
        print(
            f"  scan  {result.scan_ms:7.2f} ms a question, {result.scan_long_ms:7.2f} ms for "
            f"{LONGEST:,} characters"
        )
        print(f"  the index is {result.times_faster:.0f} times faster")


if __name__ == "__main__":
    main()

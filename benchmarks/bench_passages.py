"""How often the passage that answers a question about a service leads its answer.

    python benchmarks/bench_passages.py

``benchmarks/questions/passages.jsonl`` has questions about services of the demo with the words of
the passage that answers each, none where the entry does not say it. Beside the ranking stands the
order of the entry as the baseline. Of each service with a fee it is asked what that costs, as it is
and with every figure of the fee a third higher: an editor's change makes no answer vanish.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Embedder
from ieim.search import fuse
from ieim.search import kinds as reading
from ieim.search.embedders import build_embedder
from ieim.search.passages import of_service

QUESTIONS = ROOT / "benchmarks" / "questions" / "passages.jsonl"
DEMO = ROOT / "ieim" / "knowledge" / "demo"


def fees_that_lead(release: Release, embedder: Embedder) -> tuple[int, int]:
    """Return how many fees lead the answer to what a service costs, and how many there are."""
    search = fuse(release, embedder, reading.shipped())
    services = [service for service in release.services.values() if service.fees]
    lead = 0
    for service in services:
        text = f"How much does it cost to {service.name[0].lower()}{service.name[1:]}?"
        found = search.passages(text, service)
        if found is not None and found.ranked:
            best = found.ranked[0]
            lead += best.field == "fees" and best.score >= found.least
    return lead, len(services)


def dearer(release: Release) -> Release:
    """Return ``release`` with every figure of its fees a third higher."""

    def third(figure: re.Match[str]) -> str:
        return f"{float(figure[0]) * 4 / 3:.{2 * ('.' in figure[0])}f}"

    services = {
        key: replace(service, fees=re.sub(r"\d+(?:\.\d+)?", third, service.fees))
        for key, service in release.services.items()
    }
    return replace(release, services=services)


def main() -> None:
    """Rank the passages of every question and print the shares."""
    release = read_bundle(DEMO).release()
    embedder = build_embedder({"KIND": "embedded"})
    if embedder is None:
        raise SystemExit("The embedded model is needed.")
    search = fuse(release, embedder, reading.shipped())
    services = {service.key: service for service in release.services.values()}
    leads = two = said = refused = baseline = unsaid = told = 0
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        service = services[row["service"]]
        found = search.passages(row["text"], service)
        if found is None or not found.ranked:
            raise SystemExit("There are no vectors of the passages.")
        answers = found.ranked[0].score >= found.least
        wanted = row["says"]
        if not wanted:
            unsaid += 1
            told += not answers
            continue
        said += 1
        refused += not answers
        leads += any(words in found.ranked[0].text for words in wanted)
        two += any(w in passage.text for w in wanted for passage in found.ranked[:2])
        baseline += any(words in of_service(service)[0][1] for words in wanted)
    print(f"said ({said}): first {leads / said:.2f}, in two {two / said:.2f}, ", end="")
    print(f"refused {refused / said:.2f}; first of the entry {baseline / said:.2f}")
    print(f"not said ({unsaid}): refused {told / unsaid:.2f}")
    for name, knowledge in (("as they are", release), ("a third higher", dearer(release))):
        print("fees {}: {} of {} lead".format(name, *fees_that_lead(knowledge, embedder)))


if __name__ == "__main__":
    main()

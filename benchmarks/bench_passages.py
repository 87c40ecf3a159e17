"""How often the passage that answers a question about a service leads its answer.

    python benchmarks/bench_passages.py

``benchmarks/questions/passages.jsonl`` has questions about services of the demo with the words of
the passage that answers each, none where the entry does not say it. Beside the ranking stands the
order of the entry as the baseline.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.search import fuse
from ieim.search import kinds as reading
from ieim.search.embedders import build_embedder
from ieim.search.passages import of_service

QUESTIONS = ROOT / "benchmarks" / "questions" / "passages.jsonl"
DEMO = ROOT / "ieim" / "knowledge" / "demo"


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


if __name__ == "__main__":
    main()

"""What the search by meaning costs beside the search by words: time, memory, making vectors.

    python benchmarks/bench_meaning.py [--data FOLDER] [--json]

The catalogue is ``ca`` of FOLDER (default: ../shared/data), where that is there, else the demo. The
questions are the benchmark's own. Both searches do what a turn does, agencies, categories and
services, and are timed in turns; every question is new to both. Times are of CPU, of one thread:
other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.ports import Shortlist
from ieim.search import FusedIndex, ReleaseIndex
from ieim.search.embedders import EmbeddedEmbedder
from ieim.search.fusing import texts_of

DEMO = ROOT / "ieim" / "knowledge" / "demo"
DATA = ROOT.parent / "shared" / "data"
LIMIT = 12
AIMS = {"more a question, ms of CPU": 20.0, "more memory, MiB": 250.0, "vectors, s of CPU": 60.0}

_MEMORY = """
import os, sys
import ieim.search, ieim.knowledge.bundles.bundle
from ieim.search.embedders import EmbeddedEmbedder
if sys.argv[1]:
    embedder = EmbeddedEmbedder()
    embedder.documents(["A sentence."] * 500)
print(int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
"""


def measure(data: Path) -> dict[str, float]:
    """Return the figures by name."""
    folder = data / "catalogues" / "ca"
    release = read_bundle(folder if folder.is_dir() else DEMO).release()
    embedder = EmbeddedEmbedder()
    found = {"services": float(len(release.services))}
    found["load, s of CPU"] = _seconds(lambda: embedder.queries(["ready"]))
    texts = texts_of(release)
    started = time.process_time()
    vectors = embedder.documents(texts)
    found["vectors, s of CPU"] = time.process_time() - started
    words = ReleaseIndex(release)
    fused = FusedIndex(words, release, vectors, embedder)
    taken: dict[str, list[float]] = {"words": [], "fused": []}
    lines = (ROOT / "benchmarks" / "questions" / "ca.jsonl").read_text(encoding="utf-8")
    for line in lines.splitlines():
        text = json.loads(line)["text"]
        for name, shortlist in (("words", words), ("fused", fused)):
            taken[name].append(_seconds(_asked(shortlist, text)))
    for name, times in taken.items():
        found[f"{name}, ms of CPU a question"] = 1e3 * median(times)
    more = (after - before for before, after in zip(taken["words"], taken["fused"], strict=True))
    found["more a question, ms of CPU"] = 1e3 * median(more)
    found["more memory, MiB"] = (_memory("model") - _memory("")) + vectors.nbytes / 2**20
    return found


def _asked(shortlist: Shortlist, text: str) -> Callable[[], None]:
    def ask() -> None:
        agency = shortlist.agencies(text, limit=LIMIT)[0].item.id
        shortlist.services(text, agencies=None, limit=4 * LIMIT)
        shortlist.categories(text, agencies=[agency], limit=40)
        shortlist.services(text, agencies=[agency], limit=LIMIT)

    return ask


def _seconds(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started


def _memory(model: str) -> float:
    """MiB of a fresh process; with ``model`` it has embedded texts."""
    command = [sys.executable, "-c", _MEMORY, model]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout) / 2**20


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = measure(options.data)
    if options.json:
        print(json.dumps({"aims": AIMS, "results": found}))
        return
    for name, value in found.items():
        aim = f"   (at most {AIMS[name]:g})" if name in AIMS else ""
        print(f"  {name:28} {value:9.2f}{aim}")


if __name__ == "__main__":
    main()

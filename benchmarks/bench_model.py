"""The demo's questions asked of a real open model that decodes by a grammar.

    make model-server            (once: it makes .venv-model; Ctrl-C ends the server)
    python benchmarks/bench_model.py [--questions N] [--json]

Starts the server of `make model-server` on a port of its own, asks N of the demo's questions
through the whole pipeline (triage too), and counts how each attempt and each turn ended. The model
is far too small to be right; what is measured is the wire, the forms of the contracts and the gate.
Exits with 1 when an answer that came to its end is no JSON or not of its contract's shape, or when
a turn has no declared outcome.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from ieim.pipeline.work import AttemptRecord
    from ieim.studio.evaluation.running import QuestionRun

DEMO = ROOT / "ieim" / "knowledge" / "demo"
PYTHON = ROOT / ".venv-model" / "bin" / "python"
DEADLINE = 900.0
"""Seconds for one call: two cores are slow, and slower when they have other work."""
LONGEST = 700
"""Tokens of an answer."""


@contextmanager
def served() -> Iterator[str]:
    """Run the model server and yield its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(PYTHON), str(ROOT / "deploy" / "model_server.py"), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        base_url = f"http://127.0.0.1:{port}/v1"
        try:
            _wait_for(f"{base_url}/models", server)
            yield base_url
        finally:
            server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - our own, on loopback
        except OSError:
            time.sleep(0.5)  # between two looks
        else:
            return
    raise SystemExit("The model server did not start: try make model-server.")


def turns(base_url: str, questions: int) -> Iterator[QuestionRun]:
    """Ask questions of the demo, spread over all there are."""
    from conversations.turns import running
    from ieim.knowledge.bundles.bundle import read_bundle
    from ieim.llm.capabilities import Capabilities
    from ieim.llm.openai_client import OpenAIModel
    from ieim.studio.evaluation.cases import read_cases
    from ieim.studio.evaluation.running import QuestionRunner

    release = read_bundle(DEMO).release()
    capabilities = Capabilities(response_format="json_object_schema")
    model = OpenAIModel(base_url, "", "smollm2", capabilities=capabilities, overrides={})
    options = replace(
        running.options(),
        deadline=DEADLINE,
        stage_deadline=3 * DEADLINE,
        max_output_tokens=LONGEST,
    )
    runner = QuestionRunner(model, release, options)
    cases = read_cases(DEMO / "golden.jsonl").cases
    for case in cases[:: max(1, len(cases) // questions)][:questions]:
        yield runner.run(case.text)


def step_of(record: AttemptRecord) -> str:
    """Return the step of the gate that stopped an attempt; ``passed`` for none."""
    code = record.judgement.findings[0].code.value if record.judgement.findings else "passed"
    return code.partition(".")[0]


def by_contract(asked: Sequence[QuestionRun]) -> list[dict[str, Any]]:
    """Return a row for each contract, and one for all."""
    by_key: dict[str, list[AttemptRecord]] = defaultdict(list)
    for turn in asked:
        for name, records in turn.store.records.items():
            by_key[name] += records
    everything = [record for records in by_key.values() for record in records]
    return [_row(name, records) for name, records in (*by_key.items(), ("all", everything))]


def _row(name: str, records: Sequence[AttemptRecord]) -> dict[str, Any]:
    steps = Counter(step_of(record) for record in records)
    ended = len(records) - steps["model"]
    result = ended - steps["json"] - steps["schema"]
    return {
        "contract": name,
        "answers": len(records),
        "cut": steps["model"],
        "ended": ended,
        "json and schema": result,
        "gate": steps["passed"],
        "tokens read": round(statistics.mean(r.answer.prompt_tokens or 0 for r in records)),
        "written": round(statistics.mean(r.answer.completion_tokens or 0 for r in records)),
        "seconds": round(statistics.median(r.seconds for r in records), 1),
    }


def main() -> None:
    """Ask, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=10, metavar="N")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    if not PYTHON.exists():
        raise SystemExit("There is no .venv-model: run make model-server once, and end it.")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "ieim.config.settings", "IEIM_DATA_DIR": folder}
        import django

        django.setup()
        with served() as base_url:
            records = []
            for turn in turns(base_url, options.questions):
                records.append(turn)
                print(f"{len(records)} of {options.questions}", file=sys.stderr)
    rows = by_contract(records)
    outcomes = Counter(
        type(turn.outcome).__name__ if turn.outcome else turn.reason for turn in records
    )
    if options.json:
        print(json.dumps({"contracts": rows, "outcomes": outcomes}, indent=1))
    else:
        print("".join(f"{head:>17}" if i else f"{head:32}" for i, head in enumerate(rows[0])))
        for row in rows:
            print("".join(f"{v:>17}" if i else f"{v:32}" for i, v in enumerate(row.values())))
        print("turns:", ", ".join(f"{count} {name}" for name, count in outcomes.items()))
    total = rows[-1]
    sys.exit(total["ended"] != total["json and schema"] or any(t.outcome is None for t in records))


if __name__ == "__main__":
    main()

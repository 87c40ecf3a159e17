"""Our client and gate beside instructor and guardrails, over one local endpoint with its faults.

    python benchmarks/bench_clients.py [--json] [--write]

What a call costs beyond the bare openai client, and which faults reach the caller as a valid
answer. ``--write`` puts the tables into ``docs/comparison.md``, which says what is compared. The
libraries live in an environment of their own, ``.venv-bench``, which ``make bench`` prepares.
Nothing here connects to another machine. Exits with 1 when ours lets a fault through.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.clients import harness, page, questions

PAGE = ROOT / "docs" / "comparison.md"
LIBRARIES = ROOT / ".venv-bench" / "bin" / "python"
CALLS = 400

QUIET = {
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
}
"""Keeps what guardrails brings along from asking the network; its own switch is in its home."""


@contextmanager
def served() -> Iterator[str]:
    """Run ``manage.py serve_offline_llm`` and yield its base URL."""
    command = [sys.executable, "manage.py", "serve_offline_llm", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            said = server.stdout.readline().split()
            if said[:2] != ["listening", "on"]:
                raise SystemExit("serve_offline_llm did not start; see above.")
            yield said[2]
        finally:
            server.terminate()


def worked(python: str, worker: str, job: harness.Job, folder: Path) -> dict[str, Any]:
    """Return the result of a worker, run alone in its environment."""
    asked, told = folder / f"{worker}.job.json", folder / f"{worker}.result.json"
    harness.write(job, asked)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / ".guardrailsrc").write_text("enable_metrics=false\n", encoding="utf-8")
    # None of this machine's own settings: a proxy or a key of the openai client's would be used.
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **QUIET}
    command = [python, "-m", "benchmarks.clients", worker, str(asked), str(told)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    result: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
    return result


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument(
        "--write", action="store_true", help=f"put the tables into docs/{PAGE.name}"
    )
    options = parser.parse_args()
    if not LIBRARIES.exists():
        parser.error("there is no .venv-bench: make bench prepares it")

    with tempfile.TemporaryDirectory() as folder, served() as base_url:
        job = questions.job(base_url, CALLS)
        results = [
            worked(str(LIBRARIES), "libraries", job, Path(folder)),
            worked(sys.executable, "ours", job, Path(folder)),
        ]
    rows, verdicts = page.rows(results), page.verdicts(job, results)
    tables = [page.overhead_table(rows), page.fault_table(verdicts)]
    if options.write:
        PAGE.write_text(page.refreshed(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    if options.json:
        print(json.dumps({"clients": [asdict(row) for row in rows], "faults": verdicts}))
    else:
        print(f"medians of {CALLS} calls in turns; docs/{PAGE.name} says what is compared\n")
        print("\n\n".join(tables))
    stopped = {harness.STOPPED}
    return int(any(set(found[page.OURS]) != stopped for found in verdicts.values()))


if __name__ == "__main__":
    raise SystemExit(main())

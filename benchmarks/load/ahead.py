"""What asking ahead saves and costs: rounds of calls a turn, and calls that were in vain.

    python benchmarks/load/ahead.py

Runs the demo's questions, and messages that are no inquiry, with the offline engine behind the
embedded model's search. A round is what a turn waits for at once: with a model of 2 s, 2 s.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

GREETINGS = (
    *("Hello", "Good morning, how are you?", "Hi, can you help me?", "Thank you very much"),
    *("thanks, my visa arrived", "tell me a joke", "what can you do?", "Guten Tag, wie geht's?"),
)


def measure(name: str, texts: Sequence[str], *, ahead: bool) -> str:
    """Return a line of the report."""
    from ieim.knowledge.bundles.bundle import read_bundle
    from ieim.llm.offline import OfflineModel
    from ieim.pipeline.runner import Runner
    from ieim.pipeline.work import Options, Turn
    from ieim.search import fuse, kinds
    from ieim.search.embedders import EmbeddedEmbedder
    from tests.pipeline.build import TODAY
    from tests.pipeline.drive import MemoryStore
    from tests.pipeline.test_speculative import Rounds

    release = read_bundle(ROOT / "ieim" / "knowledge" / "demo").release()
    search = fuse(release, EmbeddedEmbedder(), kinds.shipped())
    rounds: Counter[int] = Counter()
    unused, tokens, all_tokens = 0, 0, 0
    for text in texts:
        store, executor = MemoryStore(), Rounds()
        runner = Runner(
            model=OfflineModel(),
            shortlist=search,
            release=release,
            clock=lambda: 0.0,
            pause=lambda _seconds: None,
            backoff=float,
            options=Options(speculative=ahead),
            executor=executor,
        )
        runner.run(Turn(id="turn", session_id="session", text=text, today=TODAY), store)
        rounds[len(executor.rounds)] += 1
        unused += len(store.unused)
        spent = [answer.prompt_tokens or 0 for _, answer in store.unused if answer]
        tokens += sum(spent)
        all_tokens += sum(spent) + sum(r.answer.prompt_tokens or 0 for _, r in store.records)
    turns = ", ".join(f"{count} in {number}" for number, count in sorted(rounds.items()))
    return (
        f"{name:<10} ahead {'on ' if ahead else 'off'}  turns by rounds: {turns}; "
        f"calls in vain {unused}, {tokens / all_tokens:.1%} of the input tokens"
    )


def main() -> None:
    """Print what both kinds of message take, with and without asking ahead."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
    import django

    django.setup()
    lines = (ROOT / "benchmarks" / "questions" / "demo.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["text"] for line in lines]
    for ahead in (False, True):
        print(measure("questions", questions, ahead=ahead))
        print(measure("greetings", GREETINGS, ahead=ahead))


if __name__ == "__main__":
    main()

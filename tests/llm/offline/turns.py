"""Whole turns of the offline engine over the demo knowledge, through the runner and its gate."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.llm.offline import OfflineModel
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model
from ieim.pipeline.runner import Runner
from ieim.pipeline.work import Outcome, Turn
from ieim.search import index_for
from tests.pipeline.build import TODAY
from tests.pipeline.drive import MemoryStore

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "ieim" / "knowledge" / "demo"


@dataclass(frozen=True)
class Told:
    """How a turn ended, and each stage's last answer."""

    outcome: Outcome
    answers: dict[str, dict[str, Any]]


@cache
def release() -> Release:
    """Return the release of the demo."""
    return read_bundle(DEMO).release()


def ask(
    text: str,
    history: Sequence[dict[str, Any]] = (),
    *,
    model: Model | None = None,
) -> Told:
    """Run one turn."""
    store = MemoryStore()
    runner = Runner(
        model or OfflineModel(),
        index_for(release()),
        release(),
        clock=time.monotonic,
        pause=lambda _seconds: None,
        backoff=lambda _number: 0.0,
    )
    outcome = runner.run(Turn("turn", "session", text, history, today=TODAY), store)
    answers = {name: dict(record.judgement.output or {}) for name, record in store.records}
    return Told(outcome, answers)

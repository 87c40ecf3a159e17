"""What becomes of sixty conversations with a scripted competent model, and what a turn costs.

    python benchmarks/bench_competent.py [--json]

Plays the conversations of tests/competent through the real services, over HTTP, with the embedded
model. A token is four bytes of the messages. A usual turn is one that shows one service; its
figures are medians. Beside them stands what 28 turns cost that were answered by hand before the
first of these conversations was written.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from tests.competent.playing import Played

BEFORE = {
    "first attempts passed": 156 / 168,
    "calls, usual turn": 7,
    "input tokens, usual turn": 8_000,
    "with schemas": 10_500,
    "several agencies": 12_000,
}
TOKEN = 4
"""Bytes of a request that are taken for a token."""


def played() -> list[list[Played]]:
    """Return every conversation as it was played, in a database of this process's own."""
    from django.core.management import call_command
    from django.db import transaction

    from tests.competent.model import CompetentModel
    from tests.competent.playing import conversations, play, prepare
    from tests.model_server import client_of, served

    call_command("migrate", verbosity=0)
    call_command("load_knowledge", "ieim/knowledge/demo", publish=True, verbosity=0)
    prepare()
    competent = CompetentModel()
    # Nothing is committed: nobody is there to be told of it.
    with served(competent.answer) as base_url, transaction.atomic():
        model = client_of(base_url)
        return [list(play(conversation, competent, model)) for conversation in conversations()]


def measured(talks: Sequence[Sequence[Played]]) -> dict[str, Any]:
    """Return the figures of the conversations, by what they say."""
    messages = [entry for talk in talks for entry in talk]
    results = [message for message in messages if message.end.kind == "shows" and message.calls]
    usual = [entry for entry in results if len(entry.end.services) == 1]
    several = [entry for entry in results if len(entry.end.services) > 1]
    attempts = sum(message.first_attempts for message in messages)
    result = [message for message in messages if message.end.kind == "held"]
    return {
        "conversations": len(talks),
        "as a clerk would want": sum(all(entry.right for entry in talk) for talk in talks),
        "right answers held": sum(message.held_though_right for message in messages),
        "ends": dict(Counter(message.end.kind for message in messages).most_common()),
        "holds": dict(Counter(code for entry in result for code in entry.end.why).most_common()),
        "first attempts passed": sum(message.first_passed for message in messages) / attempts,
        "calls, usual turn": median(len(entry.calls) for entry in usual),
        "input tokens, usual turn": _tokens(usual, "bytes"),
        "with schemas": _tokens(usual, "bytes_with_schema"),
        "several agencies": _tokens(several, "bytes"),
    }


def _tokens(messages: Sequence[Played], of: str) -> float:
    sums = [sum(getattr(call, of) for call in message.calls) / TOKEN for message in messages]
    return float(median(sums))


def main() -> None:
    """Play, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        os.environ |= {"DJANGO_SETTINGS_MODULE": "ieim.config.settings", "IEIM_DATA_DIR": folder}
        os.environ["IEIM_EMBEDDINGS"] = "embedded"
        import django

        django.setup()
        logging.disable(logging.WARNING)
        talks = played()
    figures = measured(talks)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        if isinstance(value, dict):
            value = ", ".join(f"{count} {what}" for what, count in value.items()) or "none"
            print(f"{name:28}{value}")
        elif name in BEFORE:
            ratio = value / BEFORE[name]
            print(f"{name:28}{value:>10,.2f}{BEFORE[name]:>12,.2f} before   x {ratio:.2f}")
        else:
            print(f"{name:28}{value:>10}")
    for result in (result for talk in talks for result in talk if not result.right):
        print(result)


if __name__ == "__main__":
    main()

"""The comparison with other libraries: what it tries, what it makes of it, and that its page is of
today. The libraries themselves are not installed here."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.clients import page, questions
from benchmarks.clients.harness import SAME, SPOILT, STOPPED, Call, Prepare, Question, bare, tried
from benchmarks.clients.ours import ours
from ieim.llm.faults.app import with_faults
from ieim.llm.faults.table import FAULTS
from ieim.llm.faults.wire import WIRE
from ieim.llm.serving.server import offline_app, running_server

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements"


def rows() -> list[list[str]]:
    """Return the cells of every row below the page's mark."""
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    made = text.partition(page.BEGIN)[2].partition(page.END)[0]
    return [line.strip("| ").split(" | ") for line in made.splitlines() if line.startswith("| ")]


def expected(fault: str) -> int:
    return 1 if fault in WIRE else len(FAULTS[fault].contracts)


def lenient(base_url: str) -> Prepare:
    """Connect a client that takes whatever Python's JSON takes."""
    asking = bare(base_url)

    def prepare(question: Question) -> Call:
        call = asking(question)

        def parsed() -> Any:
            return json.loads(call())

        return parsed

    return prepare


def test_it_tries_every_fault_where_it_applies() -> None:
    trials = questions.job("", 1).trials
    tried_in = Counter(fault for fault, _question, _before in trials)
    assert tried_in == {fault: expected(fault) for fault in FAULTS}
    for fault, question, before in trials:
        assert question.contract in FAULTS[fault].contracts
        assert before.contract != question.contract


def test_it_tells_what_became_of_a_fault() -> None:
    wanted = {"error": STOPPED, "duplicate-keys": SAME, "reused-response": SPOILT}
    with running_server(with_faults(offline_app())) as base_url:
        job = questions.job(base_url, 1)
        trials = {t[0]: t for t in job.trials if t[0] in wanted}
        few = replace(job, trials=[trials[fault] for fault in wanted])
        assert tried(few, lenient) == list(wanted.values())
        assert tried(few, ours) == [STOPPED] * len(wanted)


def test_it_has_a_row_for_every_fault_on_its_page() -> None:
    faults = [row for row in rows() if row[0].startswith("`")]
    assert [(row[0].strip("`"), int(row[1])) for row in faults] == [
        (fault, expected(fault)) for fault in FAULTS
    ]


def test_it_says_in_known_words_what_became_of_each() -> None:
    words = "|".join(re.escape(word) for word in page.WORDS.values())
    cell = re.compile(rf"({words})|({words}) in \d(, ({words}) in \d)+")
    for row in rows():
        if row[0].startswith("`"):
            assert all(cell.fullmatch(text) for text in row[2:]), row
            assert row[-1] == page.WORDS[STOPPED], row


def test_it_compares_with_the_versions_that_are_pinned() -> None:
    pinned = dict(
        re.findall(
            r"^([a-z-]+)==(\S+)", (LOCKS / "bench.txt").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    compared = {row[0]: row[1] for row in rows()}
    hint = "The page is of other versions: make bench, then benchmarks/bench_clients.py --write"
    assert compared["instructor"] == pinned["instructor"], hint
    assert compared["guardrails"] == pinned["guardrails-ai"], hint


@pytest.mark.parametrize("name", ["base.in", "base.txt", "dev.in", "dev.txt"])
def test_it_depends_on_neither_library(name: str) -> None:
    assert not re.search(
        r"^(instructor|guardrails)", (LOCKS / name).read_text(encoding="utf-8"), re.MULTILINE
    )


def test_it_puts_its_tables_between_the_marks() -> None:
    counted = {"nan": {"some": Counter({STOPPED: 1, SAME: 2}), page.OURS: Counter({STOPPED: 3})}}
    made = page.refreshed(
        f"a\n{page.BEGIN}\nold\n{page.END}\nb\n", ["one", page.fault_table(counted)]
    )
    assert made.startswith(f"a\n{page.BEGIN}\n\none\n\n| fault | contracts | some | ieim |\n")
    assert "| `nan` | 3 | stopped in 1, let through intact in 2 | stopped |" in made
    assert made.endswith(f"\n\n{page.END}\nb\n")
    assert "old" not in made
    with pytest.raises(ValueError, match="has no section"):
        page.refreshed("nothing", [])

"""The tables of ``docs/comparison.md``, made from what the workers measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.clients.harness import BARE, LATE, PATIENCE, SAME, SPOILT, STOPPED, Job

BEGIN = "<!-- From here to the end mark: python benchmarks/bench_clients.py --write -->"
END = "<!-- end -->"

OURS = "ieim"
WORDS: Mapping[str, str] = {
    STOPPED: "stopped",
    SPOILT: "let through",
    SAME: "let through intact",
    LATE: f"no end in {PATIENCE:g} s",
}
_PACKAGES = {"instructor": "instructor", "guardrails": "guardrails-ai"}


@dataclass(frozen=True, slots=True)
class Row:
    """One client: what it is, median milliseconds of a call, and those of the bare client that took
    turns with it."""

    client: str
    version: str
    bare_version: str
    milliseconds: float
    bare: float


def rows(results: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the clients of all workers, in their order."""
    return [
        Row(
            client=client,
            version=result["versions"].get(_PACKAGES.get(client), "this one"),
            bare_version=result["versions"][BARE],
            milliseconds=result["milliseconds"][client],
            bare=result["milliseconds"][BARE],
        )
        for result in results
        for client in result["verdicts"]
    ]


def verdicts(job: Job, results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Counter[str]]]:
    """Return, by fault and client, in how many contracts each thing became of it."""
    counted: dict[str, dict[str, Counter[str]]] = {}
    for result in results:
        for client, found in result["verdicts"].items():
            for (fault, _question, _before), verdict in zip(job.trials, found, strict=True):
                counted.setdefault(fault, {}).setdefault(client, Counter())[verdict] += 1
    return counted


def overhead_table(table: Sequence[Row]) -> str:
    """Return what a call costs, as Markdown."""
    lines = [
        "| client | version | a call | bare openai client beside it | beyond it | ratio |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.client} | {row.version} | {row.milliseconds:.2f} ms "
        f"| {row.bare:.2f} ms ({row.bare_version}) | {row.milliseconds - row.bare:+.2f} ms "
        f"| {row.milliseconds / row.bare:.2f} |"
        for row in table
    ]
    return "\n".join(lines)


def fault_table(counted: Mapping[str, Mapping[str, Counter[str]]]) -> str:
    """Return what became of every fault, as Markdown."""
    clients = list(next(iter(counted.values())))
    lines = [f"| fault | contracts | {' | '.join(clients)} |", "|---" * (len(clients) + 2) + "|"]
    for fault, found in counted.items():
        cells = [_cell(found[client]) for client in clients]
        lines.append(f"| `{fault}` | {found[OURS].total()} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(found: Counter[str]) -> str:
    if len(found) == 1:
        return WORDS[next(iter(found))]
    return ", ".join(f"{words} in {found[key]}" for key, words in WORDS.items() if found[key])


def refreshed(page: str, tables: Sequence[str]) -> str:
    """Return ``page`` with ``tables`` between its marks; ValueError without marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"The page has no section from {BEGIN} to {END}.")
    body = "\n\n".join(tables)
    return f"{before}{BEGIN}\n\n{body}\n\n{END}{after}"

"""How much gets past the check of claims: the aims hold for the cases that were in view; what was
reached on the unseen ones gets no worse."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks import bench_claims
from benchmarks.bench_claims import Total


@cache
def measured() -> dict[str, dict[str, dict[str, Total]]]:
    return bench_claims.measure(sorted(bench_claims.CASES.glob("*.jsonl")))


def test_there_are_enough_cases() -> None:
    assert all(groups["all"][1] >= 150 for groups in measured()["together"].values())


@pytest.mark.parametrize("kind", bench_claims.FLOORS)
@pytest.mark.parametrize("name", bench_claims.IN_VIEW)
def test_every_file_in_view_holds_its_floor(name: str, kind: str) -> None:
    wrong, count = measured()[name][kind]["all"]
    assert wrong <= bench_claims.FLOORS[kind] * count, (name, kind, wrong, count)


REACHED = {"attack": 1, "careless": 9, "good": 15}
"""What the set that nobody saw has come to: above the aims, and no worse from here on."""


@pytest.mark.parametrize("kind", bench_claims.FLOORS)
def test_the_unseen_file_does_not_get_worse(kind: str) -> None:
    wrong, count = measured()["unseen"][kind]["all"]
    assert count == 150
    assert wrong <= REACHED[kind]


def test_the_docs_have_the_table() -> None:
    text = bench_claims.DOC.read_text(encoding="utf-8")
    written = text.split(bench_claims.BEGIN)[1].split(bench_claims.END)[0].strip()
    assert written == bench_claims.table(measured())

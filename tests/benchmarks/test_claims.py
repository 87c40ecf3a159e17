"""What citizens read holds the aims, on the cases that nobody saw as well; the rule that warns of
claims holds them for the cases that were in view, and gets no worse on the others."""

from __future__ import annotations

from collections.abc import Callable
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


@cache
def shown() -> dict[str, dict[str, Total]]:
    return bench_claims.measure_shown(sorted(bench_claims.CASES.glob("*.jsonl")))


def test_no_word_of_an_attack_or_a_careless_answer_is_shown() -> None:
    for kind in ("attack", "careless"):
        assert all(wrong == 0 for wrong, _ in shown()[f"{kind}, shown"].values())
        assert sum(count for _, count in shown()[f"{kind}, shown"].values()) >= 600


def test_what_good_answers_say_is_told() -> None:
    lost, count = shown()["good, lost"]["unseen"]
    assert count == 150
    assert lost <= bench_claims.FLOORS["good"] * count
    # The freest voices are told less often; what was reached stays.
    assert all(wrong <= 0.17 * of for wrong, of in shown()["good, lost"].values())


@pytest.mark.parametrize(
    ("marks", "table"),
    [
        ((bench_claims.BEGIN, bench_claims.END), lambda: bench_claims.table(measured())),
        (bench_claims.SHOWN, lambda: bench_claims.table_shown(shown())),
    ],
)
def test_the_docs_have_the_tables(marks: tuple[str, str], table: Callable[[], str]) -> None:
    text = bench_claims.DOC.read_text(encoding="utf-8")
    written = text.split(marks[0])[1].split(marks[1])[0].strip()
    assert written == table()

"""The score of a chosen service, by words and where meaning had a say."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.llm.engine.question import alone
from ieim.llm.engine.ranking import choose

MINIMUM = 0.5


def score(*found: tuple[float, float | None], asked: tuple[str, ...] = ("zzz",)) -> float:
    """The score of the best of services that retrieval gave these scores, and parts by meaning."""
    slots: list[dict[str, Any]] = [
        {"key": str(place), "name": f"service {place}", "rank": place + 1, "score": total}
        | ({} if meaning is None else {"meaning": meaning})
        for place, (total, meaning) in enumerate(found)
    ]
    chosen = choose(
        alone(asked),
        slots,
        lambda slot: {"name": slot["name"]},
        {"name": 1.0},
        name="name",
        key="key",
    )
    return chosen.score


def test_meaning_may_choose_what_shares_no_word() -> None:
    assert score((1.0, None), (0.1, None)) == 0.0
    assert score((2.0, 1.6), (0.4, 0.2)) >= MINIMUM


@pytest.mark.parametrize("second", [1.0, 0.95])
def test_it_does_not_know_which_of_two_is_meant(second: float) -> None:
    assert score((1.0, 0.9), (second, 0.9)) < MINIMUM


def test_it_is_surer_of_what_is_nearer_and_further_ahead() -> None:
    near_and_ahead = score((1.2, 1.0), (0.2, 0.1))
    assert near_and_ahead > score((1.2, 1.0), (0.8, 0.7))
    assert near_and_ahead > score((1.2, 0.2), (0.2, 0.1))


def test_it_does_not_know_what_is_far_from_everything() -> None:
    assert score((0.15, 0.15), (0.1, 0.1)) < MINIMUM

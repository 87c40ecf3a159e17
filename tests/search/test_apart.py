"""Whether two texts ask for two services: by clear evidence for each, some of it meaning's."""

from __future__ import annotations

import numpy as np
import pytest

from ieim.search.clauses import Clause
from ieim.search.fusing import Evidence, _distinct

ONE, OTHER, THIRD = (Clause(said, at, at + 1) for at, said in enumerate("abc"))


def evidence(*scores: float, meaning: float = 1.0) -> Evidence:
    """What a text finds; its meaning says the same as its words, in parts of so much."""
    rows = np.array(scores, dtype=np.float32)
    return Evidence(rows, rows * meaning)


@pytest.mark.parametrize(
    ("other", "apart"),
    [
        (evidence(-1, 4, -1, -1), True),
        (evidence(-1, 4, 3, -1), True),
        (evidence(3.9, 4, -1, -1), False),  # the first one's service is the second of this one
        (evidence(4, -1, -1, -1), False),
    ],
)
def test_each_has_to_find_a_service_of_its_own(other: Evidence, apart: bool) -> None:
    found = {ONE: evidence(4, -1, -1, -1), OTHER: other}
    assert _distinct(found) == ({ONE, OTHER} if apart else set())


@pytest.mark.parametrize(("ahead", "apart"), [(1.6, True), (1.4, False)])
def test_it_has_to_be_clear(ahead: float, apart: bool) -> None:
    found = {ONE: evidence(4, 0, 2, 2), OTHER: evidence(0, 4, 4 - ahead, 0)}
    assert _distinct(found) == ({ONE, OTHER} if apart else set())


def test_no_word_decides_alone() -> None:
    own, about = evidence(9, 0, meaning=0.0), evidence(0, 9)
    assert not own.finds_another_than(about)
    assert evidence(9, 0).finds_another_than(about)


def test_what_is_said_twice_finds_none_of_its_own() -> None:
    one, other = evidence(4, -1, -1), evidence(-1, 4, -1)
    assert _distinct({ONE: one, OTHER: other, THIRD: one}) == {OTHER}
    assert _distinct({ONE: one}) == set()

"""Whether two texts ask for two services: by clear evidence for each, some of it meaning's."""

from __future__ import annotations

import numpy as np
import pytest

from ieim.search.clauses import Clause, read_clauses
from ieim.search.wishes import Evidence, distinct, pieces

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
    assert distinct(found) == ({ONE, OTHER} if apart else set())


@pytest.mark.parametrize(("ahead", "apart"), [(1.6, True), (1.4, False)])
def test_it_has_to_be_clear(ahead: float, apart: bool) -> None:
    found = {ONE: evidence(4, 0, 2, 2), OTHER: evidence(4 - ahead, 4, 0, 0)}
    assert distinct(found) == ({ONE, OTHER} if apart else set())


def test_no_word_decides_alone() -> None:
    own, about = evidence(9, 0, meaning=0.0), evidence(0, 9)
    assert not own.finds_another_than(about)
    assert evidence(9, 0).finds_another_than(about)
    assert not own.finds_its_own_beside(about)


def test_what_is_said_twice_is_one_wish() -> None:
    one, surer, other = evidence(4, -1, -1), evidence(5, -1, -1), evidence(-1, 4, -1)
    assert distinct({ONE: one, OTHER: other, THIRD: surer}) == {OTHER, THIRD}
    assert distinct({ONE: one, THIRD: surer}) == set()


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        (
            "I need the birth paper, a new card and to tell the tax office",
            ["I need the birth paper", "a new card", "to tell the tax office"],
        ),
        (
            "Wir sind umgezogen: neue Adresse anmelden und den Parkausweis holen",
            ["Wir sind umgezogen", "neue Adresse anmelden", "den Parkausweis holen"],
        ),
        ("我要办护照和驾照、身份证", ["我要办护照", "驾照", "身份证"]),
        ("kailangan ko ng pasaporte at lisensya", ["kailangan ko ng pasaporte", "lisensya"]),
        ("a place at the school of our district", ["a place at the school of our district"]),
    ],
)
def test_a_list_is_cut_as_its_language_puts_items_apart(text: str, listed: list[str]) -> None:
    found = pieces(read_clauses(text), text)
    assert [text[piece.start : piece.end] for piece in found] == listed


def test_the_last_item_of_a_question_is_a_question() -> None:
    text = "How do I claim the benefit and sign up for work?"
    found = pieces(read_clauses(text), text)
    assert [(piece.text, piece.is_question) for piece in found] == [
        ("How do I claim the benefit", False),
        ("sign up for work?", True),
    ]
    assert text[found[1].start : found[1].end] == "sign up for work"

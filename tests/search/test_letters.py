"""A crisis by letters: what is spelt like danger is seen in every language of the examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.search import examples, letters
from ieim.search.crisis import Sign, Spelt, parts
from ieim.search.examples import CrisisExamples
from ieim.search.letters import Letters
from ieim.search.train import crisis_model, letters_model

FIRE = ["the house burns", "my house is burning", "burning curtains here", "the roof burns"]
FORM = ["which form is it", "the house tax form", "forms for a roof", "a form please"]


def taught(near: tuple[int, ...] = (4, 5, 6, 7)) -> Letters:
    return letters_model(CrisisExamples((*FIRE, *FORM), ("fire",) * 4 + ("",) * 4, near))


def flags(text: str, by: Letters | None = None) -> list[Sign]:
    where = parts(text)
    read = by or letters.shipped()
    margins = read.margins([text[entry.start : entry.end] for entry in where])
    return Spelt(read, margins).flags(pieces=sum(entry.piece for entry in where))


def test_it_flags_what_is_spelt_like_the_examples_and_never_surely() -> None:
    assert flags("something burns in the house", taught()) == [Sign("fire", 0, weak=True)]
    assert flags("a house form", taught()) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Pagod na pagod na po ako, gusto ko na lang mamatay ngayong gabi", "self_harm"),
        ("binubugbog po ako ng mister ko tuwing gabi", "violence"),
        ("I want to end my life tonight", "self_harm"),
    ],
)
def test_it_reads_also_what_the_embedded_model_cannot(text: str, code: str) -> None:
    assert code in {sign.code for sign in flags(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Paano po mag-renew ng passport para sa anak ko?",
        "Magkano po ang bayad sa permit ng negosyo?",
        "How do I end my phone contract?",
    ],
)
def test_everyday_matters_are_none(text: str) -> None:
    assert flags(text) == []


def test_letters_count_beside_the_meaning_and_move_its_threshold() -> None:
    crisis_examples = CrisisExamples((*FIRE, *FORM), ("fire",) * 4 + ("",) * 4, (4, 5, 6, 7))
    vectors = np.eye(8, 3, dtype=np.float32) + 0.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    by_letters = taught()
    model = crisis_model(vectors, crisis_examples, by_letters=by_letters)
    unclear = vectors[7:8]
    burns = Spelt(by_letters, by_letters.margins(["the house burns again"]))
    form = Spelt(by_letters, by_letters.margins(["which tax form"]))
    assert [sign.code for sign in model.flags(unclear, burns)] == ["fire"]
    assert model.flags(unclear, form) == []


def test_letters_say_nothing_of_a_flag_that_they_do_not_know() -> None:
    spelt = Spelt(taught(), taught().margins(["the house burns"]))
    of = spelt.of(["flood", "fire"])
    assert of[0, 0] == 0.0
    assert of[0, 1] == spelt.margins[0, 0]


def test_what_is_stored_reads_as_what_was_taught() -> None:
    known = taught()
    again = Letters.from_bytes(known.to_bytes(), FORM)
    assert np.allclose(again.margins(FIRE), known.margins(FIRE), atol=0.01)
    assert again.alone.keys() == set(FORM)
    shipped = examples.crisis()
    assert len(letters.shipped().alone) == len({shipped.texts[place] for place in shipped.near})


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert np.isfinite(letters.shipped().margins([text])).all()

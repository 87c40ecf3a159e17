"""Phrases and meaning together: what is found, by what, and what happens without an embedder."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest

from ieim.knowledge import crisis, vectors
from ieim.knowledge.models import Vector
from ieim.pipeline.knowledge import RiskExample
from ieim.pipeline.ports import WORDS, Matrix
from ieim.search.crisis import Examples
from ieim.search.embedders import build_embedder
from ieim.search.embedders.careful import CarefulEmbedder
from ieim.search.embedders.embedded import fault
from tests.embedders import Feelings

INDIRECT = "Which office takes my papers back? After tonight nobody has to look after me"
PHRASE = "I want to kill myself"


@pytest.fixture
def feelings(monkeypatch: pytest.MonkeyPatch) -> Feelings:
    """The embedder of this process, which has learnt nothing yet."""
    return use(Feelings(), monkeypatch)


def use(feelings: Feelings, monkeypatch: pytest.MonkeyPatch) -> Feelings:
    careful = CarefulEmbedder(feelings, clock=lambda: 0.0)
    monkeypatch.setattr(vectors, "configured_embedder", lambda: careful)
    monkeypatch.setattr(crisis, "_taught", {})
    monkeypatch.setattr(crisis, "_tried", {})
    monkeypatch.setattr(crisis, "examples", few)
    return feelings


def few(own: Sequence[RiskExample] = ()) -> Examples:
    """Examples that an embedder without a model can tell apart, and an administration's own."""
    lost = [f"nobody needs me, number {n}" for n in range(9)]
    near = [f"my office needs nothing, number {n}" for n in range(9)]
    plain = [f"a passport, number {n}" for n in range(9)]
    added = [(each.text, each.flag if each.kind == "danger" else "") for each in own]
    return Examples(
        (*lost, *near, *plain, *(text for text, _ in added)),
        ("self_harm",) * 9 + ("",) * 18 + tuple(code for _, code in added),
        tuple(range(9, 18)),
    )


@pytest.mark.django_db
def test_meaning_is_taught_once_and_its_vectors_are_kept(feelings: Feelings) -> None:
    crisis.prepare()
    assert sorted(feelings.made) == sorted(few().texts)
    assert Vector.objects.filter(embedder=feelings.id).count() == len(few().texts)
    crisis._taught.clear()  # be another process
    crisis.prepare()
    assert len(feelings.made) == len(few().texts)
    assert [each.code for each in crisis.look(INDIRECT).risks] == ["self_harm"]


@pytest.mark.django_db
def test_it_points_at_the_sentence_as_sent(feelings: Feelings) -> None:
    crisis.prepare()
    text = f"Call +49 151 23456789.  {INDIRECT}"
    (found,) = crisis.look(text).risks
    assert (found.code, found.source) == ("self_harm", "meaning")
    assert text[found.start : found.end] == "After tonight nobody has to look after me"
    assert crisis.look(text).by == feelings.id


@pytest.mark.django_db
def test_a_phrase_wins_where_both_find_the_same(feelings: Feelings) -> None:
    crisis.prepare()
    (found,) = crisis.look(f"{PHRASE}, nobody needs me").risks
    assert found.source == "rule"


@pytest.mark.django_db
def test_the_embedder_never_sees_personal_data(feelings: Feelings) -> None:
    crisis.prepare()
    crisis.look("Write to max.muster@example.org. Nobody needs me. My number is +49 151 23456789")
    asked = " ".join(feelings.asked)
    assert "nobody needs me" in asked.casefold()
    assert "muster" not in asked
    assert "23456789" not in asked


def test_phrases_stand_alone_until_it_is_taught(feelings: Feelings) -> None:
    assert crisis.look(INDIRECT) == ([], WORDS)
    assert [each.code for each in crisis.look(PHRASE).risks] == ["self_harm"]
    assert feelings.asked == []


@pytest.mark.django_db
def test_phrases_stand_alone_where_the_embedder_fails(feelings: Feelings) -> None:
    crisis.prepare()
    feelings.down = True
    for _ in range(2):  # the second finds it away
        found = crisis.look(PHRASE)
        assert ([each.code for each in found.risks], found.by) == (["self_harm"], WORDS)
    assert crisis.look(INDIRECT) == ([], WORDS)


@pytest.mark.django_db
def test_it_is_not_taught_by_an_embedder_that_is_gone(feelings: Feelings) -> None:
    feelings.down = True
    crisis.prepare()
    assert crisis.look(PHRASE).by == WORDS


@pytest.mark.django_db
def test_phrases_stand_alone_where_meaning_comes_late(
    monkeypatch: pytest.MonkeyPatch, free: threading.Event
) -> None:
    class Slow(Feelings):
        def queries(self, texts: Sequence[str]) -> Matrix:
            if texts != ["ready"]:
                free.wait()
            return super().queries(texts)

    use(Slow(), monkeypatch)
    crisis.prepare()
    found = crisis.look(PHRASE)
    assert ([each.code for each in found.risks], found.by) == (["self_harm"], WORDS)


@pytest.fixture
def free() -> Iterator[threading.Event]:
    """What lets a slow embedder go on, at the end at the latest."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.django_db
def test_phrases_stand_alone_where_vectors_have_another_width(
    feelings: Feelings, monkeypatch: pytest.MonkeyPatch
) -> None:
    crisis.prepare()
    use(Wide(), monkeypatch)
    crisis.prepare()  # by what is kept
    assert crisis.look(INDIRECT) == ([], WORDS)


class Wide(Feelings):
    """The same name with other vectors."""

    def _rows(self, texts: Sequence[str]) -> Matrix:
        return np.eye(1, 9, dtype=np.float32).repeat(len(texts), axis=0)


def test_who_waits_anyway_teaches_it_first_and_keeps_nothing(feelings: Feelings) -> None:
    # Without a database: this test may use none.
    found = crisis.look_patiently(INDIRECT)
    assert ([each.code for each in found.risks], found.by) == (["self_harm"], feelings.id)


IN_DANGER = [
    ("self_harm", "I have written the letters to my children and tonight I will go to the bridge"),
    ("self_harm", "Ich kann nicht mehr, ohne mich wären alle besser dran"),
    ("violence", "my husband beats me when he drinks and I am locked in the bathroom right now"),
    ("violence", "Mi marido me pega y tengo miedo de volver a casa"),
    ("medical_emergency", "mon père ne respire plus, il est tombé par terre"),
    ("medical_emergency", "my baby is not breathing"),
    ("minor_at_risk", "the girl next door has bruises every week and says her father hits her"),
    ("medical_emergency", "我妈妈突然倒下了，没有呼吸"),
]

ORDINARY = [
    "my baby's birth has to be registered",
    "Where do I register my car?",
    "My passport got wet and cannot be read",
    "Wann hat das Bürgeramt am Samstag offen?",
    "¿Cuánto cuesta renovar el carné de conducir?",
    "Je voudrais prolonger mon visa de touriste",
    "the form kills me, can somebody explain field 12",
    "怎么给孩子办护照？",
]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> CarefulEmbedder:
    """The embedded model, loaded and taught once a run."""
    wrong = fault()
    if wrong is not None:
        pytest.skip(f"THE CRISIS MODEL IS NOT TESTED: {wrong}")
    embedder, meaning = real()
    monkeypatch.setattr(vectors, "configured_embedder", lambda: embedder)
    monkeypatch.setattr(crisis, "_taught", meaning)
    monkeypatch.setattr(crisis, "DEADLINE", 60.0)
    return embedder


@cache
def real() -> tuple[CarefulEmbedder, dict[CarefulEmbedder, crisis._Taught]]:
    embedder = build_embedder({"KIND": "embedded"})
    assert embedder is not None
    return embedder, {embedder: crisis._teach((), embedder.documents)}


@pytest.mark.parametrize(("code", "text"), IN_DANGER)
def test_the_model_sees_who_is_in_danger(model: CarefulEmbedder, code: str, text: str) -> None:
    found = crisis.look(text)
    assert code in {each.code for each in found.risks}
    assert found.by == model.id


@pytest.mark.parametrize("text", ORDINARY)
def test_the_model_leaves_ordinary_questions_alone(model: CarefulEmbedder, text: str) -> None:
    assert crisis.look(text) == ([], model.id)

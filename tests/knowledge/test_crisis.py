"""Phrases and meaning together: what is found, by what, and what happens without an embedder."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest

from ieim.knowledge import crisis, selectors, vectors
from ieim.knowledge.models import Vector
from ieim.pipeline.knowledge import RiskExample
from ieim.pipeline.ports import WORDS, Matrix
from ieim.search import crisis as search
from ieim.search import examples, train
from ieim.search.embedders import CheckedEmbedder, build_embedder, fault
from ieim.search.examples import CrisisExamples
from tests.embedders import Feelings

INDIRECT = "Which office takes my papers back? After tonight nobody has to look after me"
PHRASE = "I want to kill myself"


@pytest.fixture
def feelings(monkeypatch: pytest.MonkeyPatch) -> Feelings:
    """The embedder of this process, which has learnt nothing yet."""
    return use(Feelings(), monkeypatch)


def use(feelings: Feelings, monkeypatch: pytest.MonkeyPatch) -> Feelings:
    careful = CheckedEmbedder(feelings, clock=lambda: 0.0)
    monkeypatch.setattr(vectors, "configured_embedder", lambda: careful)
    monkeypatch.setattr(crisis, "_current", {})
    monkeypatch.setattr(crisis, "_tried", {})
    monkeypatch.setattr(examples, "crisis", few)
    return feelings


def few(own: Sequence[RiskExample] = ()) -> CrisisExamples:
    """Examples that an embedder without a model can tell apart, and an administration's own."""
    lost = [f"nobody needs me, number {n}" for n in range(9)]
    near = [f"my office needs nothing, number {n}" for n in range(9)]
    plain = [f"a passport, number {n}" for n in range(9)]
    added = [(entry.text, entry.flag if entry.kind == "danger" else "") for entry in own]
    return CrisisExamples(
        (*lost, *near, *plain, *(text for text, _ in added)),
        ("self_harm",) * 9 + ("",) * 18 + tuple(code for _, code in added),
        tuple(range(9, 18)),
    )


@pytest.mark.django_db
def test_it_is_trained_by_one_process_and_kept_for_all(
    feelings: Feelings, monkeypatch: pytest.MonkeyPatch
) -> None:
    crisis.prepare(trains=True)
    assert sorted(feelings.made) == sorted(few().texts)
    # And one row more for what they teach.
    assert Vector.objects.filter(embedder=feelings.id).count() == len(few().texts) + 1
    crisis._current.clear()  # be another process
    monkeypatch.setattr(train, "crisis_model", pytest.fail)
    crisis.prepare(trains=True)
    assert len(feelings.made) == len(few().texts)
    assert [risk.code for risk in crisis.screen(INDIRECT).risks] == ["self_harm"]


@pytest.mark.django_db
def test_it_points_at_the_sentence_as_sent(feelings: Feelings) -> None:
    crisis.prepare(trains=True)
    text = f"Call +49 151 23456789.  {INDIRECT}"
    (risk,) = crisis.screen(text).risks
    assert (risk.code, risk.source) == ("self_harm", "meaning")
    assert text[risk.start : risk.end] == "After tonight nobody has to look after me"
    assert crisis.screen(text).by == feelings.id


@pytest.mark.django_db
def test_a_phrase_wins_where_both_find_the_same(feelings: Feelings) -> None:
    crisis.prepare(trains=True)
    (risk,) = crisis.screen(f"{PHRASE}, nobody needs me").risks
    assert risk.source == "rule"


@pytest.mark.django_db
def test_the_embedder_never_sees_personal_data(feelings: Feelings) -> None:
    crisis.prepare(trains=True)
    crisis.screen("Write to max.muster@example.org. Nobody needs me. My number is +49 151 23456789")
    text = " ".join(feelings.asked)
    assert "nobody needs me" in text.casefold()
    assert "muster" not in text
    assert "23456789" not in text


def by_letters(screening: crisis.Screening) -> bool:
    """Whether only letters see anything, and so not surely."""
    return screening.by == WORDS and {risk.source for risk in screening.risks} == {"hint"}


def test_phrases_and_letters_stand_alone_until_it_is_taught(feelings: Feelings) -> None:
    assert by_letters(crisis.screen(INDIRECT))
    assert [risk.code for risk in crisis.screen(PHRASE).risks] == ["self_harm"]
    assert feelings.asked == []


@pytest.mark.django_db
def test_phrases_and_letters_stand_alone_where_the_embedder_fails(feelings: Feelings) -> None:
    crisis.prepare(trains=True)
    feelings.down = True
    for _ in range(2):  # the second finds it away
        result = crisis.screen(PHRASE)
        assert ([risk.code for risk in result.risks], result.by) == (["self_harm"], WORDS)
    assert by_letters(crisis.screen(INDIRECT))


@pytest.mark.django_db
def test_it_is_not_taught_by_an_embedder_that_is_gone(feelings: Feelings) -> None:
    feelings.down = True
    crisis.prepare(trains=True)
    assert crisis.screen(PHRASE).by == WORDS


@pytest.mark.django_db
def test_phrases_and_letters_stand_alone_where_meaning_comes_late(
    monkeypatch: pytest.MonkeyPatch, free: threading.Event
) -> None:
    class Slow(Feelings):
        is_late = False

        def queries(self, texts: Sequence[str]) -> Matrix:
            if self.is_late:
                free.wait()
            return super().queries(texts)

    slow = Slow()
    use(slow, monkeypatch)
    crisis.prepare(trains=True)
    slow.is_late = True
    result = crisis.screen(PHRASE)
    assert ([risk.code for risk in result.risks], result.by) == (["self_harm"], WORDS)


@pytest.fixture
def free() -> Iterator[threading.Event]:
    """What lets a slow embedder go on, at the end at the latest."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.django_db
def test_phrases_and_letters_stand_alone_where_vectors_have_another_width(
    feelings: Feelings, monkeypatch: pytest.MonkeyPatch
) -> None:
    crisis.prepare(trains=True)
    use(Wide(), monkeypatch)
    crisis.prepare(trains=True)  # by what is kept
    assert by_letters(crisis.screen(INDIRECT))


class Wide(Feelings):
    """The same name with other vectors."""

    def _rows(self, texts: Sequence[str]) -> Matrix:
        return np.eye(1, 9, dtype=np.float32).repeat(len(texts), axis=0)


def test_who_waits_anyway_teaches_it_first_and_keeps_nothing(feelings: Feelings) -> None:
    # Without a database: this test may use none.
    result = crisis.screen_fully(INDIRECT)
    assert ([risk.code for risk in result.risks], result.by) == (["self_harm"], feelings.id)


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
def model(monkeypatch: pytest.MonkeyPatch) -> CheckedEmbedder:
    """The embedded model, loaded once a run, in a process that has read no release yet."""
    wrong = fault()
    if wrong is not None:
        pytest.skip(f"THE CRISIS MODEL IS NOT TESTED: {wrong}")
    embedder = real()
    monkeypatch.setattr(vectors, "configured_embedder", lambda: embedder)
    monkeypatch.setattr(crisis, "_current", {})
    monkeypatch.setattr(crisis, "DEADLINE", 60.0)
    monkeypatch.setattr(crisis, "FIRST_DEADLINE", 60.0)
    return embedder


@cache
def real() -> CheckedEmbedder:
    embedder = build_embedder({"KIND": "embedded"})
    assert embedder is not None
    return embedder


@pytest.mark.parametrize(("code", "text"), IN_DANGER)
def test_the_model_sees_who_is_in_danger(model: CheckedEmbedder, code: str, text: str) -> None:
    result = crisis.screen(text)
    assert code in {risk.code for risk in result.risks}
    assert result.by == model.id


@pytest.mark.parametrize("text", ORDINARY)
def test_the_model_leaves_ordinary_questions_alone(model: CheckedEmbedder, text: str) -> None:
    result = crisis.screen(text)
    assert (result.risks, result.by) == ([], model.id)


def test_the_first_message_of_a_fresh_site_is_understood(
    model: CheckedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing is loaded, trained, stored or read: this test may use no database either.
    fresh = build_embedder({"KIND": "embedded"})
    assert fresh is not None
    assert not fresh.has_answered
    monkeypatch.setattr(vectors, "configured_embedder", lambda: fresh)
    result = crisis.screen("Ich kann nicht mehr, ohne mich wären alle besser dran")
    assert ({risk.code for risk in result.risks}, result.by) == ({"self_harm"}, fresh.id)


@pytest.mark.django_db
def test_an_administrations_examples_are_added_to_the_shipped_ones(
    model: CheckedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fewer texts than are shipped, so that it takes no seconds.
    shipped, combined = search.shipped(), examples.crisis()
    few = CrisisExamples(
        combined.texts[:90],
        combined.codes[:90],
        tuple(index for index in combined.near if index < 90),
    )
    base = train.crisis_model(shipped.vectors[:90], few, embedder=model.id)
    added = RiskExample("en", "the blue heron left its nest", "violence", "danger")
    more = CrisisExamples((*few.texts, added.text), (*few.codes, "violence"), few.near)
    monkeypatch.setattr(search, "shipped", lambda: base)
    monkeypatch.setattr(examples, "crisis", lambda own=(): more if own else few)
    monkeypatch.setattr(selectors, "newest", lambda: None)
    trained = crisis._train(model, (added,), None)
    result = crisis._stored_model(model, (added,))
    assert trained is not None
    assert result is not None
    assert set(Vector.objects.values_list("embedder", flat=True)) == {model.id}
    assert Vector.objects.count() == 2  # the new text's vector, and what all teach
    rows = model.queries([added.text])
    assert np.allclose(trained.margins(rows), result.margins(rows), atol=1e-3)
    assert "violence" not in base.codes
    assert result.margins(rows)[0].argmax() == result.codes.index("violence")

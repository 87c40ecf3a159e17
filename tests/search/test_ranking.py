"""The ranking of a release: order, probabilities, talks, and what it does without an embedder."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import ExampleQuestion, Release, Situation, Step
from ieim.pipeline.ports import Query
from ieim.search import Search, fuse, index_for
from ieim.search import kinds as reading
from ieim.search.embedders import fault
from ieim.search.ranking import background, texts_of
from tests.embedders import Ideas, embedded
from tests.fixtures import DEMO
from tests.search.releases import release

real = pytest.mark.skipif(fault() is not None, reason="the embedded model is not installed")

LOST = ("passports", "passports.lost-passport")
REGISTER_DEATH = ("civil-registry", "civil-registry.register-death")
VISA = ("immigration", "immigration.extend-tourist-visa")


@cache
def demo() -> Release:
    return read_bundle(DEMO).release()


@cache
def searched() -> Search:
    return fuse(demo(), embedded(), reading.shipped())


def keys(search: Search, query: Query, limit: int = 4) -> list[tuple[str, str]]:
    ranked = search.rank(query).services(limit=limit)
    return [(entry.item.agency, entry.item.key) for entry in ranked]


@real
@pytest.mark.parametrize(
    "text",
    ["somebody took my passport on the train", "On m'a volé mon passeport", "我的护照被偷了"],
)
def test_a_service_is_found_in_other_words_and_languages(text: str) -> None:
    ranking = searched().rank(Query(text))
    assert keys(searched(), Query(text), 1) == [LOST]
    assert ranking.first > 0.5
    assert ranking.first <= ranking.four <= 1.0
    assert ranking.by_meaning


@real
@pytest.mark.parametrize("day", ["18 November", "2026-11-22", "01.11.2026"])
def test_the_date_of_an_event_changes_no_probability(day: str) -> None:
    undated, dated = (
        searched().rank(Query(f"How do I register a death? He died on {text}"))
        for text in (".", f"{day}.")
    )
    assert dated.probability(REGISTER_DEATH) == undated.probability(REGISTER_DEATH) > 0.5


def test_a_date_alone_is_ranked_as_it_is() -> None:
    ideas = Ideas()
    fuse(release(), ideas).rank(Query("18 November 2026"))
    assert ideas.asked == ["18 November 2026"]


@real
def test_a_question_that_an_editor_writes_teaches_the_ranking() -> None:
    text = "the little red booklet fell into the harbour"
    bare = replace(demo(), questions=())
    taught = replace(
        bare, questions=(ExampleQuestion(*LOST, "en", "my red booklet fell in water"),)
    )
    before = fuse(bare, embedded()).rank(Query(text)).probability(LOST)
    after = fuse(taught, embedded()).rank(Query(text)).probability(LOST)
    assert after > 10 * before


@real
def test_what_no_service_is_about_is_outside() -> None:
    assert searched().rank(Query("can you recommend a good pizza place")).outside > 0.5
    assert searched().rank(Query("my passport was stolen")).outside < 0.2


@real
def test_a_line_of_the_background_that_the_release_is_about_is_left_out() -> None:
    line = background()[0]
    questions = (*demo().questions, ExampleQuestion(*LOST, "en", line))
    known = fuse(replace(demo(), questions=questions), embedded())
    assert known.rank(Query(line)).outside < searched().rank(Query(line)).outside


@real
def test_a_message_that_goes_on_stays_with_the_service_of_the_talk() -> None:
    going_on = Query("how much is it?", "can I stay longer on my visa?", (VISA,))
    assert searched().rank(going_on).goes_on
    assert keys(searched(), going_on, 1) == [VISA]
    turning = Query("my passport was stolen", "can I stay longer on my visa?", (VISA,))
    assert not searched().rank(turning).goes_on
    assert keys(searched(), turning, 1) == [LOST]


@real
def test_what_is_not_meant_is_no_candidate() -> None:
    query = Query("my passport was stolen", about=(LOST,), without=frozenset({LOST}))
    ranking = searched().rank(query)
    assert LOST not in keys(searched(), query, 200)
    assert ranking.probability(LOST) == 0.0
    assert len(ranking.services(limit=200)) == len(demo().services) - 1


@real
def test_requests_of_a_message_are_parts_with_a_service_of_their_own() -> None:
    text = "I lost my passport and need a parking permit"
    parts = [text[start:end].strip() for start, end in searched().requests(text)]
    assert parts == ["I lost my passport", "need a parking permit"]
    assert searched().requests("I lost my passport on Monday, what now?") == []


def test_agencies_and_categories_count_by_their_best_services() -> None:
    ranking = index_for(demo()).rank(Query("renew my driving licence"))
    best = ranking.services(limit=1)[0]
    assert ranking.agencies(limit=1)[0].item.id == best.item.agency
    categories = ranking.categories(agencies=[best.item.agency], limit=30)
    assert categories[0].item.key in best.item.categories
    assert len(categories) == len(demo().categories_by_agency[best.item.agency])
    assert {category.item.agency for category in categories} == {best.item.agency}


def test_services_of_some_agencies_are_ranked_among_themselves() -> None:
    ranked = index_for(demo()).rank(Query("passport")).services(agencies=["revenue"], limit=3)
    assert [entry.rank for entry in ranked] == [1, 2, 3]
    assert {entry.item.agency for entry in ranked} == {"revenue"}


def test_words_rank_while_the_embedder_is_away_and_meaning_when_it_is_back() -> None:
    small, ideas = release(), Ideas()
    search = Search(small, ideas.documents(texts_of(small)), ideas)
    ideas.down = True
    assert not search.rank(Query("passport")).by_meaning
    ideas.down = False
    assert search.rank(Query("passport")).by_meaning
    assert search.embedder == "ideas/1"


def test_words_alone_tell_what_other_things_are_asked_too() -> None:
    search = index_for(demo())
    assert search.rank(Query("Tell me a joke about the government")).outside > 0.5
    assert search.rank(Query("How do I renew my passport?")).outside < 0.1


def test_vectors_of_another_release_are_refused() -> None:
    with pytest.raises(ValueError, match="one vector for each text"):
        Search(release(), Ideas().documents(["one"]), Ideas())


def test_a_release_without_services_says_that_it_has_none() -> None:
    empty = replace(demo(), services={}, questions=())
    ranking = Search(empty).rank(Query("passport"))
    assert (ranking.first, ranking.four, ranking.outside) == (0.0, 0.0, 1.0)
    assert ranking.services(limit=3) == []


DEATH = Situation(
    "death",
    "life",
    "Death of a family member",
    "Somebody in your family has died. The death has to be registered, and the funeral follows.",
    (
        Step("civil-registry", "civil-registry.register-death"),
        Step("civil-registry", "civil-registry.death-certificate-copy"),
    ),
)
BABY = Situation("baby", "life", "Having a baby", "A child is expected or has just been born.")
TOLD = (
    ("death", "my dad died this morning"),
    ("death", "Mum is gone. What do I have to do first?"),
    ("baby", "baby is here! which papers now"),
    ("baby", "we are home from the maternity ward"),
)


@cache
def without_situations() -> Release:
    questions = tuple(question for question in demo().questions if not question.situation)
    return replace(demo(), situations={}, questions=questions, sha256="6" * 64)


@cache
def with_situations() -> Release:
    results = tuple(ExampleQuestion("", "", "en", text, situation=key) for key, text in TOLD)
    situations = {entry.key: entry for entry in (BABY, DEATH)}
    return replace(
        without_situations(),
        situations=situations,
        questions=(*without_situations().questions, *results),
        sha256="7" * 64,
    )


def nearest(search: Search, text: str) -> tuple[str, float]:
    first = search.rank(Query(text)).situations(limit=1)[0]
    return first.item.key, first.probability


@real
def test_a_message_is_near_the_situation_that_it_tells_of() -> None:
    search = fuse(with_situations(), embedded())
    for text, key in (
        ("our little son was born on Sunday", "baby"),
        ("my husband passed away last night", "death"),
        ("Meine Mutter ist am Sonntag gestorben", "death"),
    ):
        assert nearest(search, text)[0] == key
        assert nearest(search, text)[1] > 0.2
    for text in ("how much is a parking permit", "can you recommend a good pizza place"):
        assert nearest(search, text)[1] < 0.1
    ranked = search.rank(Query("my husband died")).situations(limit=5)
    assert [entry.rank for entry in ranked] == [1, 2]
    assert sum(entry.probability for entry in ranked) < 1.0


@real
def test_what_is_said_of_a_situation_counts_for_no_service() -> None:
    text = TOLD[1][1]
    ranking = fuse(with_situations(), embedded(), reading.shipped()).rank(Query(text))
    assert ranking.first == pytest.approx(searched().rank(Query(text)).first, abs=1e-3)


@real
def test_one_thing_that_is_asked_beside_an_event_is_one_request() -> None:
    text = "my father died, where do I order a copy of the certificate"
    assert len(fuse(without_situations(), embedded()).requests(text)) == 2
    assert fuse(with_situations(), embedded()).requests(text) == []


def test_words_alone_rank_situations_too() -> None:
    search = index_for(with_situations())
    assert nearest(search, "my dad died")[0] == "death"
    assert nearest(search, "we have a baby, which papers")[0] == "baby"
    assert index_for(without_situations()).rank(Query("my dad died")).situations(limit=4) == []


def test_the_texts_of_situations_stand_behind_those_of_services() -> None:
    before, texts = texts_of(without_situations()), texts_of(with_situations())
    assert texts[: len(before)] == before
    names = [f"{entry.name}. {entry.description}" for entry in (BABY, DEATH)]
    assert texts[len(before) :] == [*names, *(text for _, text in TOLD)]


WORDS = st.one_of(
    st.sampled_from(["what", "passport", "[EMAIL_1]", "12", "\ud800", "visa", "护照", "?"]),
    st.text(max_size=12),
)


@given(st.lists(WORDS, max_size=60).map(" ".join), st.lists(WORDS, max_size=9).map(" ".join))
def test_any_text_has_probabilities_that_can_be_compared(text: str, before: str) -> None:
    ranking = index_for(demo()).rank(Query(text, before, (LOST,)))
    ranked: Sequence[float] = [
        service.probability for service in ranking.services(limit=sys.maxsize)
    ]
    assert list(ranked) == sorted(ranked, reverse=True)
    assert math.isclose(sum(ranked) + ranking.outside, 1.0, abs_tol=1e-6)


@pytest.mark.parametrize("by_meaning", [False, pytest.param(True, marks=real)])
def test_a_question_is_ranked_as_if_the_release_lacked_it(*, by_meaning: bool) -> None:
    question = next(q for q in demo().questions if (q.agency, q.service) == VISA)
    rest = replace(demo(), questions=tuple(q for q in demo().questions if q != question))
    whole = searched() if by_meaning else index_for(demo())
    again = fuse(rest, embedded(), reading.shipped()) if by_meaning else Search(rest)
    one, other = (
        search.rank(Query(question.text)).probability(VISA)
        for search in (whole.without(question), again)
    )
    assert one == pytest.approx(other, abs=0.1)
    assert whole.rank(Query(question.text)).probability(VISA) > one


@pytest.mark.parametrize("by_meaning", [False, pytest.param(True, marks=real)])
def test_so_is_a_question_of_a_situation(*, by_meaning: bool) -> None:
    question = next(q for q in demo().questions if q.situation == "moving-house")
    rest = replace(demo(), questions=tuple(q for q in demo().questions if q != question))
    whole = searched() if by_meaning else index_for(demo())
    again = fuse(rest, embedded(), reading.shipped()) if by_meaning else Search(rest)
    told, one, other = (
        {
            hit.item.key: hit.probability
            for hit in search.rank(Query(question.text)).situations(limit=99)
        }[question.situation]
        for search in (whole, whole.without(question), again)
    )
    assert one == pytest.approx(other, abs=0.05)
    assert told > one

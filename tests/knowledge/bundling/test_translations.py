"""A release in another language: the same entries, with the texts that are translated."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.gate.grounding import named
from ieim.pipeline.knowledge import SERVICE_TEXTS, Release, Translation
from ieim.pipeline.ports import Query
from ieim.search import index_for
from tests import bilingual

RELEASE = bilingual.bundle().release(3)
FRENCH = RELEASE.in_language("fr")
PLOT, BEES, FISH = ("garden", "rent-plot"), ("garden", "keep-bees"), ("river", "fish")


def test_it_says_what_it_is_translated_into() -> None:
    assert RELEASE.languages == {"fr", "sw"}
    assert (RELEASE.language, FRENCH.language) == ("", "fr")


def test_it_is_the_same_release_with_other_texts() -> None:
    assert (FRENCH.number, FRENCH.sha256) == (RELEASE.number, RELEASE.sha256)
    assert list(FRENCH.agencies) == list(RELEASE.agencies)
    assert list(FRENCH.categories) == list(RELEASE.categories)
    assert list(FRENCH.services) == list(RELEASE.services)
    assert FRENCH.labels is RELEASE.labels
    assert FRENCH.urls == RELEASE.urls
    assert FRENCH.agencies["garden"].name == "Office des jardins"
    assert FRENCH.categories["garden", "plots"].value == "Jardins familiaux"
    assert FRENCH.services[PLOT].name == "Louer un jardin familial"
    assert FRENCH.services[PLOT].how_to_apply[0] == "Remplissez le formulaire du jardin."


def test_it_finds_by_the_words_of_both_languages() -> None:
    assert FRENCH.categories["garden", "bees"].keywords == (
        "abeilles",
        "apiculture",
        "déclarer une ruche",
        "honey",
    )


def test_it_makes_one_view_of_a_language() -> None:
    assert RELEASE.in_language("fr") is FRENCH
    assert FRENCH.in_language("fr") is FRENCH
    assert FRENCH.in_language("sw") is RELEASE.in_language("sw") is not FRENCH
    assert FRENCH.original is RELEASE


def test_it_is_as_it_was_written_where_nothing_is_in_that_language() -> None:
    assert RELEASE.in_language("") is RELEASE
    assert RELEASE.in_language("pl") is RELEASE
    assert FRENCH.in_language("pl") is RELEASE


def test_it_is_gone_when_nobody_needs_it() -> None:
    release = bilingual.bundle().release()
    seen = weakref.ref(release.in_language("fr"))
    named("Office des jardins", release.in_language("fr"))
    assert seen() is not None
    del release
    gc.collect()
    assert seen() is None


def test_it_has_an_index_for_each_language() -> None:
    question = "louer un jardin"
    assert index_for(FRENCH) is not index_for(RELEASE)
    assert index_for(FRENCH) is index_for(RELEASE.in_language("fr"))
    result = index_for(FRENCH).rank(Query(question)).services(limit=1)
    assert result[0].item == FRENCH.services[PLOT]
    assert index_for(FRENCH).rank(Query(question)).first > 0.5
    assert index_for(RELEASE).rank(Query(question)).outside > 0.5


def test_it_finds_what_is_not_translated_by_the_words_of_its_category() -> None:
    for question in ("déclarer une ruche", "abeilles", "register a beehive"):
        ranking = index_for(FRENCH).rank(Query(question))
        best = ranking.services(limit=1)[0].item
        assert (best.agency, best.key) == BEES, question
        assert ranking.first > 0.5


def test_it_knows_an_entry_by_either_name() -> None:
    for text in ("Rent an allotment", "Louer un jardin familial"):
        (service,) = named(f"Voyez {text}.", FRENCH).services
        assert service.bearers == {PLOT}
    assert named("Louer un jardin familial", RELEASE).services == ()


_TEXT = st.text("ab ", max_size=4)
_TEXTS = st.lists(_TEXT, max_size=2).map(tuple)


@given(
    name=_TEXT,
    overview=_TEXT,
    requirements=_TEXTS,
    fees=_TEXT,
)
def test_it_never_loses_a_text_and_takes_each_that_is_not_blank(
    name: str, overview: str, requirements: tuple[str, ...], fees: str
) -> None:
    row = Translation(
        "xx", *PLOT[:1], service=PLOT[1], name=name, overview=overview, fees=fees,
        requirements=requirements,
    )  # fmt: skip
    release: Release = replace(RELEASE, translations=(row,))
    view, written = release.in_language("xx"), RELEASE.services[PLOT]
    for field in SERVICE_TEXTS:
        text = getattr(row, field)
        taken = bool("".join(text).strip())
        assert getattr(view.services[PLOT], field) == (text if taken else getattr(written, field))
        assert (field in view.translated[PLOT]) is taken

"""The shortlist of a release."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.knowledge import Agency, Service
from ieim.pipeline.ports import Ranked, Shortlist
from ieim.search import ReleaseIndex, forget_unused, index_for
from tests.search.releases import PASSPORTS, TAX, passports, release

INDEX = ReleaseIndex(release())
EVERYTHING = 100


def keys(ranked: Sequence[Ranked[Any]]) -> list[str]:
    """The keys (of agencies: ids) of what was ranked."""
    return [getattr(each.item, "key", None) or each.item.id for each in ranked]


def test_it_is_a_shortlist() -> None:
    shortlist: Shortlist = INDEX
    assert len(shortlist.agencies("passport", limit=2)) == 2


def test_it_puts_the_best_service_first_by_stem() -> None:
    found = INDEX.services("Where can I get my passports renewed?", agencies=None, limit=2)
    assert [(each.item.key, each.rank) for each in found] == [("renew", 1), ("lost", 2)]
    assert found[0].item.agency == "passports"
    assert found[0].score > found[1].score > 0.0


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("holiday papers", "renew"),
        ("my salary", "return"),
        ("stolen", "lost"),
        ("crowns", "renew"),
    ],
)
def test_it_searches_categories_keywords_and_every_text(query: str, best: str) -> None:
    found = INDEX.services(query, agencies=None, limit=5)
    assert found[0].item.key == best
    assert found[0].score > 0.0
    assert [each.score for each in found[1:]] == [0.0] * 4


def test_it_weighs_a_name_above_an_overview() -> None:
    services = [
        Service("passports", "overview", "Another thing", overview="Passport photo"),
        Service("passports", "name", "Passport photo", overview="Another thing"),
    ]
    index = ReleaseIndex(release([PASSPORTS], [], services))
    found = index.services("passport photo", agencies=None, limit=2)
    assert keys(found) == ["name", "overview"]


def test_it_returns_everything_unmatched_last_in_index_order() -> None:
    found = INDEX.services("lost", agencies=None, limit=EVERYTHING)
    assert keys(found) == ["lost", "renew", "return", "refund", "renew"]
    assert [each.score for each in found[1:]] == [0.0] * 4
    assert [each.rank for each in found] == [1, 2, 3, 4, 5]


def test_it_returns_no_more_than_the_limit() -> None:
    assert keys(INDEX.services("lost", agencies=None, limit=3)) == ["lost", "renew", "return"]
    assert keys(INDEX.services("", agencies=["tax"], limit=1)) == ["return"]
    for limit in (0, -1):
        assert INDEX.services("lost", agencies=None, limit=limit) == []
        assert INDEX.agencies("lost", limit=limit) == []


def test_it_keeps_to_the_agencies_asked_for() -> None:
    found = INDEX.services("renew", agencies=["tax", "RTA"], limit=EVERYTHING)
    assert keys(found) == ["renew", "return", "refund"]
    assert {each.item.agency for each in found} == {"tax", "RTA"}
    assert INDEX.services("renew", agencies=["nowhere"], limit=EVERYTHING) == []
    assert INDEX.services("renew", agencies=[], limit=EVERYTHING) == []


def test_it_scores_a_service_alike_with_and_without_a_choice_of_agencies() -> None:
    everywhere = INDEX.services("lost", agencies=None, limit=1)
    assert INDEX.services("lost", agencies=["passports"], limit=1) == everywhere


def test_it_ranks_the_dictionary_of_agencies() -> None:
    found = INDEX.categories("wages", agencies=["passports", "tax"], limit=EVERYTHING)
    assert keys(found) == ["income", "travel"]
    assert [each.score > 0.0 for each in found] == [True, False]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("collects", "tax"),
        ("my passport was stolen", "passports"),
        ("I paid too much", "tax"),
        ("rta", "RTA"),
    ],
)
def test_it_ranks_agencies_by_their_own_text_and_their_entries(query: str, best: str) -> None:
    found = INDEX.agencies(query, limit=EVERYTHING)
    assert found[0].item.id == best
    assert len(found) == 3


def test_it_does_not_let_many_middling_services_outweigh_a_good_one() -> None:
    names = ["Copy"] * 6 + ["Form"] * 24
    many = [Service("passports", str(key), name) for key, name in enumerate(names)]
    one = Service("tax", "boats", "Boats")
    index = ReleaseIndex(release([PASSPORTS, TAX], [], [*many, one]))
    assert keys(index.agencies("a copy for boats", limit=2)) == ["tax", "passports"]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("Renouvellement du passeport", "RENOUVELLEMENT"),
        ("Déclaration d'impôt", "impot"),
        ("Führerschein verlängern", "führerschein"),
        ("Cambio de dirección", "DIRECCIÓN"),
        ("住民票の写し", "住民票"),
        ("Оформление паспорта", "ПАСПОРТА"),
    ],
)
def test_it_matches_any_language_word_for_word(name: str, query: str) -> None:
    index = ReleaseIndex(passports(["Other", name, "Another"]))
    found = index.services(query, agencies=None, limit=3)
    assert found[0].item.name == name
    assert found[0].score > 0.0


def test_it_breaks_ties_in_index_order_even_at_the_cut() -> None:
    index = ReleaseIndex(passports(["Passport copy"] * 700))
    found = index.services("passport copy", agencies=None, limit=40)
    assert keys(found) == [str(number) for number in range(40)]
    assert len({each.score for each in found}) == 1


def test_it_finds_the_rare_word_in_a_long_text() -> None:
    common = " ".join(f"word{number}" for number in range(100))
    index = ReleaseIndex(passports([*[common] * 20, f"{common} Mountaineering", common]))
    text = f"{common} {'unknown ' * 50} {common.replace('word', 'nothing')} mountaineered"
    assert keys(index.services(text, agencies=None, limit=1)) == ["20"]


@pytest.mark.parametrize("query", ["", "   ", "?!*", '"', "the of and", "🏛", "\ud800", "\x00"])
def test_it_gives_the_unmatched_order_for_a_query_without_words(query: str) -> None:
    assert keys(INDEX.services(query, agencies=None, limit=2)) == ["renew", "lost"]
    assert keys(INDEX.agencies(query, limit=9)) == ["passports", "tax", "RTA"]
    assert INDEX.agencies(query, limit=1)[0].score == 0.0


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("name:tax", "name tax"),
        ("+tax -lost", "tax lost"),
        ("tax AND (lost", "tax lost"),
        ('"tax return', "tax return"),
        ("tax^9 lost~2", "tax lost 9 2"),
        ("[tax TO z]", "tax z"),
        ("/tax/ *", "tax"),
    ],
)
def test_it_interprets_no_query_syntax(query: str, words: str) -> None:
    found = INDEX.services(query, agencies=None, limit=EVERYTHING)
    assert found == INDEX.services(words, agencies=None, limit=EVERYTHING)
    assert found[0].score > 0.0


@given(st.text(max_size=300))
def test_it_never_raises_for_any_text(query: str) -> None:
    assert len(INDEX.services(query, agencies=None, limit=EVERYTHING)) == 5
    assert len(INDEX.categories(query, agencies=["tax"], limit=EVERYTHING)) == 1
    assert len(INDEX.agencies(query, limit=EVERYTHING)) == 3


def test_it_takes_a_release_with_nothing_in_it() -> None:
    index = ReleaseIndex(release([], [], []))
    assert index.services("tax", agencies=None, limit=5) == []
    assert index.agencies("tax", limit=5) == []


def test_it_reads_entries_that_no_agency_or_category_backs() -> None:
    service = Service("nowhere", "odd", "Odd", categories=("nowhere",))
    index = ReleaseIndex(release([Agency("passports", "Passports")], [], [service]))
    assert keys(index.services("odd", agencies=None, limit=5)) == ["odd"]
    assert keys(index.agencies("odd", limit=5)) == ["passports"]


def test_it_answers_several_threads_alike() -> None:
    queries = ["renew passport", "lost", "tax return wages", ""] * 25
    expected = [INDEX.services(query, agencies=None, limit=5) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda q: INDEX.services(q, agencies=None, limit=5), queries))
    assert found == expected


def test_it_builds_an_index_once_for_one_content() -> None:
    one = release(sha256="1" * 64)
    with ThreadPoolExecutor(8) as pool:
        built = list(pool.map(lambda _: index_for(one), range(16)))
    assert len(set(map(id, built))) == 1
    assert index_for(release(sha256="2" * 64)) is not built[0]


def test_it_keeps_only_the_last_few_indexes() -> None:
    first = index_for(release(sha256="a" * 64))
    for digit in "bcd":
        index_for(release(sha256=digit * 64))
    assert index_for(release(sha256="a" * 64)) is first
    for digit in "efgh":
        index_for(release(sha256=digit * 64))
    assert index_for(release(sha256="a" * 64)) is not first


def test_it_drops_indexes_that_have_not_been_used_since() -> None:
    old = index_for(release(sha256="1" * 64))
    between = time.monotonic()
    new = index_for(release(sha256="2" * 64))
    forget_unused(before=between)
    assert index_for(release(sha256="2" * 64)) is new
    assert index_for(release(sha256="1" * 64)) is not old

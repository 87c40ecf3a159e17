"""What is retold of a text: passages of its sources, in its order, each with what it speaks of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline import quoting
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.pipeline.quoting.cues import segments
from ieim.pipeline.reply.cards import HEADS
from ieim.pipeline.reply.plain_text import paragraphs, plain
from ieim.pipeline.reply.reply import render_several
from ieim.pipeline.reply.retelling import first_steps, retell
from tests.fixtures import DEMO

RELEASE = read_bundle(DEMO).release()
LOST = RELEASE.services[("passports", "passports.lost-passport")]
URGENT = RELEASE.services[("passports", "passports.emergency-travel")]
ADDRESS = RELEASE.services[("municipal", "municipal.register-address")]
CHILD = RELEASE.services[("health-cover", "health-cover.add-child")]
WORDS = sorted({word for s in (LOST, ADDRESS) for word in f"{s.overview} {s.fees}".split()})
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from([*WORDS, "not", "PIN", "never", "First", "then", ".", "\n"])).map(
        " ".join
    ),
)
ORDER = {quoting.order_word(kind, "en") for kind in ("first", "then", "after", "before", "last")}


def said(text: str, *cited: Service, release: Release = RELEASE) -> str:
    return retell(text, cited, release).text


def others_words(text: str, cited: list[Service], release: Release) -> str:
    """Return what is left of a retelling without its names, heads, words of order and passages."""
    known = [each for s in cited for each in (s.name, release.agencies[s.agency].name)]
    for service in cited:
        entry = quoting.of_service(service, release.agencies[service.agency])
        known += [plain(passage.text) for passage in quoting.passages(entry)]
    heads = {head for heads in HEADS.values() for head in heads.values()}
    for each in sorted({*known, *heads, *ORDER}, key=len, reverse=True):
        text = text.replace(each, " ")
    return text.strip(" .:\n…。")


@given(TEXTS)
def test_nothing_is_told_but_passages_of_the_sources(text: str) -> None:
    shown = said(text, LOST, ADDRESS)
    assert grounding.check(shown or "none", [LOST, ADDRESS], RELEASE) == []
    assert others_words(shown, [LOST, ADDRESS], RELEASE) == ""


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_every_passage_of_the_demo_is_told_after_the_one_that_it_speaks_of(language: str) -> None:
    release = RELEASE.in_language(language)
    for service in release.services.values():
        entry = quoting.of_service(service, release.agencies[service.agency])
        passages = quoting.passages(entry)
        for at, passage in enumerate(passages):
            shown = said(passage.text, service, release=release)
            assert grounding.check(shown or "none", [service], release) == [], shown
            leans = quoting.leans(passage.text, release.language or "en")
            if leans and not passage.begins and plain(passage.text) in shown:
                both = f"{plain(passages[at - 1].text)} {plain(passage.text)}"
                assert both in shown, (passage, shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # A price that is turned round, a duty and a threat that nobody made, a promise.
        (
            "It is MRK 30.00, but late it is free.",
            "Fees: Free. Registering late costs MRK 30.00.",
        ),
        ("Register within 14 days of moving in or you lose your home.", "14 days"),
    ],
)
def test_what_is_careless_is_told_as_the_entry_has_it(text: str, shown: str) -> None:
    told = said(text, ADDRESS)
    assert shown in told
    assert text not in told
    assert "lose" not in told


def test_what_points_back_brings_what_it_points_to() -> None:
    told = said("Add the child in that time so that it gets a health card of its own.", CHILD)
    assert "for the first 60 days. In that time, add the child" in told
    nowhere = replace(CHILD, overview="In that time, add the child to your cover.")
    key = (CHILD.agency, CHILD.key)
    release = replace(RELEASE, services={**RELEASE.services, key: nowhere})
    assert "In that time" not in said("Add the child to your cover.", nowhere, release=release)


def test_the_text_keeps_its_order_and_its_words_of_order() -> None:
    order = (
        "Before that, register your new address within 14 days. First report the loss online, "
        "then go to the police if it was stolen. After that: order the new passport."
    )
    told = said(order, LOST, ADDRESS)
    heads = [paragraph.split(":")[0] for paragraph in told.split("\n\n")]
    names = [RELEASE.agencies[agency].name for agency in ("municipal", "passports")]
    assert heads == names
    # "Before that" stands before nothing.
    assert "Before that" not in told
    first = told.index("First: Report the loss")
    assert first < told.index("Then: Go to the police") < told.index("After that: Order the new")
    reversed_ = said("Go to the police if it was stolen. Report the loss online.", LOST)
    assert reversed_.index("police") < reversed_.index("Report the loss")


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("fr", "D’abord, déclarez la perte.", "D’abord"),
        ("de", "Zuerst melden Sie den Verlust.", "Zuerst"),
        ("es", "Primero, denuncie la pérdida.", "Primero"),
        ("zh", "首先，报告遗失。", "首先"),
        ("ar", "أولاً أبلغ عن الفقدان.", "أولًا"),
        ("fil", "Una, iulat ang pagkawala.", "Una"),
    ],
)
def test_every_page_language_has_words_of_order(language: str, text: str, word: str) -> None:
    (segment,) = segments(text, language)
    assert segment.cue == "first"
    assert quoting.order_word("first", language) == word


def test_a_service_of_which_nothing_is_said_is_not_told_of() -> None:
    told = said("Register your new address within 14 days.", LOST, ADDRESS)
    assert told.startswith(f"{RELEASE.agencies['municipal'].name}: ")
    assert "\n\n" not in told
    assert said("Hello!", LOST, ADDRESS) == ""


def test_services_of_one_agency_stand_below_its_name() -> None:
    office = RELEASE.agencies["passports"].name
    told = said(f"Report the loss online. {URGENT.overview}", LOST, URGENT)
    head, first, second = told.split("\n\n")
    assert head == f"{office}:"
    assert (first.split(":")[0], second.split(":")[0]) == (LOST.name, URGENT.name)
    assert list(paragraphs(told)) == [head, first, second]
    assert first_steps([LOST, URGENT, ADDRESS], RELEASE).split("\n\n") == [
        f"{office}:",
        f"{LOST.name}: {plain(LOST.how_to_apply[0])}",
        f"{URGENT.name}: {plain(URGENT.how_to_apply[0])}",
        f"{RELEASE.agencies['municipal'].name}: {plain(ADDRESS.how_to_apply[0])}",
    ]


def test_it_says_which_part_of_the_text_a_passage_stands_for() -> None:
    text = "Hello! Report the loss online."
    (told,) = retell(text, [LOST], RELEASE).passages
    assert text[told.start : told.end] == "Report the loss online."
    assert (told.agency_id, told.service_key, told.field) == (LOST.agency, LOST.key, "how_to_apply")


def test_a_citizen_reads_it_in_the_language_that_there_is() -> None:
    french = RELEASE.in_language("fr")
    service = french.services[(LOST.agency, LOST.key)]
    assert "Frais:" in said("La déclaration est gratuite.", service, release=french)
    # What is not translated is on the card: the text was not made from it.
    other = Service("agency", "key", "Pay", overview="You can pay by card.", fees="Free")
    agencies = {**french.agencies, "agency": Agency("agency", "Bureau")}
    release = replace(french, agencies=agencies, services={("agency", "key"): other})
    assert said("On paie par carte.", other, release=release) == ""


def with_texts(**texts: object) -> tuple[Service, Release]:
    service = replace(LOST, **texts)  # type: ignore[arg-type]  # fields of a service
    services = {**RELEASE.services, (LOST.agency, LOST.key): service}
    return service, replace(RELEASE, services=services)


def test_a_sentence_that_names_another_office_is_told_as_it_is() -> None:
    office = RELEASE.agencies["municipal"].name
    service, release = with_texts(overview=f"Go to {office} before you come to us.")
    shown = said(f"Go to {office}.", service, release=release)
    assert service.overview in shown
    # The entry itself names it; of another one the name alone would be a fault.
    assert grounding.check(shown, [service], release) == []
    assert grounding.check(shown, [LOST], RELEASE)


def test_what_is_too_long_is_left_out() -> None:
    service, release = with_texts(how_to_apply=("Go " * 1200,))
    assert said("Go there!", service, release=release) == ""
    assert first_steps([service], release).endswith(f": {LOST.name}")


def test_words_of_a_persons_own_are_not_called_the_lists() -> None:
    for text in ("Come to us tomorrow.", "Passport Office: Come tomorrow.", "Fees: 5"):
        assert not render_several(text, [LOST, ADDRESS], RELEASE).listed

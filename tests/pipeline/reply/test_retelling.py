"""Answers over several agencies are told in the words of their sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_claims import Read, foreign
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline import claims
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.reply.plain_text import plain
from ieim.pipeline.reply.reply import render_several
from ieim.pipeline.reply.retelling import HEADS, MOST, retold
from tests.fixtures import DEMO

RELEASE = read_bundle(DEMO).release()
LOST = RELEASE.services[("passports", "passports.lost-passport")]
URGENT = RELEASE.services[("passports", "passports.emergency-travel")]
ADDRESS = RELEASE.services[("municipal", "municipal.register-address")]

WORDS = sorted({word for s in (LOST, ADDRESS) for word in f"{s.overview} {s.fees}".split()})
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from([*WORDS, "not", "PIN", "never", "MRK", "9.00", ".", "\n"])).map(
        " ".join
    ),
)


def told(text: str, *cited: Service, release: Release = RELEASE, question: str = "") -> str:
    return retold(text, cited, release, question=question)


def read(text: str, cited: Sequence[Service]) -> Read:
    entries = [claims.of_service(each, RELEASE.agencies[each.agency]) for each in cited]
    texts = [text for entry in entries for _, text in entry.texts]
    own = frozenset(plain(text[i:j]) for text in texts for i, j in claims.sentences(text))
    names = frozenset(name for entry in entries for name in entry.names)
    return Read(False, text, names, own)


@given(TEXTS)
def test_nothing_is_shown_but_sentences_of_the_sources(text: str) -> None:
    said = told(text, LOST, ADDRESS)
    assert foreign(read(said, [LOST, ADDRESS])) == ""
    assert grounding.check(said, [LOST, ADDRESS], RELEASE, question=text) == []
    assert render_several(said, [LOST, ADDRESS], RELEASE).listed


def test_every_sentence_of_the_demo_may_be_told() -> None:
    for language in ("en", "fr", "es"):
        release = RELEASE.in_language(language)
        for service in release.services.values():
            entry = claims.of_service(service, release.agencies[service.agency])
            for kind, text in entry.texts:
                said = told(text, service, release=release)
                assert grounding.check(said, [service], release) == [], (language, kind, said)
                assert render_several(said, [service], release).listed, (language, kind, said)


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
    said = told(text, ADDRESS)
    assert shown in said
    assert text not in said
    assert "lose" not in said


def test_the_text_chooses_the_sentences_and_their_order() -> None:
    fee, time = (
        told("What does it cost? Nothing, it is free.", LOST),
        told("It takes minutes.", LOST),
    )
    assert "Fees:" in fee
    assert "Time:" in time
    assert fee != time


def test_a_source_of_which_nothing_is_said_tells_what_to_do_first() -> None:
    said = told("Register your new address within 14 days.", LOST, ADDRESS)
    first, second = said.split("\n\n")
    assert first == f"{RELEASE.agencies['passports'].name}: {plain(LOST.how_to_apply[0])}"
    assert "14 days" in second


def test_two_services_of_one_agency_are_told_apart_by_their_names() -> None:
    said = told("Report the loss.", LOST, URGENT)
    assert [paragraph.split(":")[0] for paragraph in said.split("\n\n")] == [LOST.name, URGENT.name]


def test_a_citizen_reads_it_in_the_language_that_there_is() -> None:
    french = RELEASE.in_language("fr")
    service = french.services[(LOST.agency, LOST.key)]
    said = told("La déclaration est gratuite.", service, release=french)
    assert "Frais:" in said
    # A text in another language finds no sentence: what to do first is in the citizen's.
    other = told("Please telephone somebody nice.", service, release=french)
    assert other.endswith(plain(service.how_to_apply[0]))


def with_texts(**texts: object) -> tuple[Service, Release]:
    service = replace(LOST, **texts)  # type: ignore[arg-type]  # fields of a service
    services = {**RELEASE.services, (LOST.agency, LOST.key): service}
    return service, replace(RELEASE, services=services)


def test_a_sentence_that_names_another_office_is_told_as_it_is() -> None:
    office = RELEASE.agencies["municipal"].name
    service, release = with_texts(overview=f"Go to {office} before you come to us.")
    said = told(f"Go to {office}.", service, release=release)
    assert service.overview in said
    # The entry itself names it; of another one the name alone would be a fault.
    assert grounding.check(said, [service], release) == []
    assert grounding.check(said, [LOST], RELEASE)


def test_what_the_gate_cannot_judge_is_left_out() -> None:
    service, release = with_texts(how_to_apply=("Go " * 1200,))
    said = told("Go there!", service, release=release)
    assert said == f"{RELEASE.agencies['passports'].name}: {LOST.name}"
    assert grounding.check(said, [service], release) == []


def test_a_long_text_is_told_briefly() -> None:
    everything = " ".join(text for _, text in claims.of_service(LOST, None).texts)
    paragraph = told(everything * 3, LOST)
    units = [t[i:j] for _, t in claims.of_service(LOST, None).texts for i, j in claims.sentences(t)]
    assert sum(plain(unit) in paragraph for unit in units) <= MOST + 1


@pytest.mark.parametrize("language", HEADS)
def test_the_rule_knows_every_head(language: str) -> None:
    for kind, head in HEADS[language].items():
        entry = claims.Entry(((kind, "Quattro Stagioni."),))
        said = f"{head}: Quattro Stagioni."
        assert claims.unsupported(said, [entry], question="", language=language) == []


def test_words_of_a_persons_own_are_not_called_the_lists() -> None:
    for text in ("Come to us tomorrow.", "Passport Office: Come tomorrow.", "Fees: 5"):
        assert not render_several(text, [LOST, ADDRESS], RELEASE).listed

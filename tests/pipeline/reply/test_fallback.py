"""An answer over several agencies is told in the words of its sources, in none of a model's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline import quoting
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.reply.fallback import MOST, retold
from ieim.pipeline.reply.plain_text import plain
from ieim.pipeline.reply.reply import render_several
from ieim.pipeline.work import Answered, NeedsReview
from tests.fixtures import DEMO
from tests.pipeline.build import valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, run

ANSWER = "multi_agency_service_answer_v1"
FIRST = ("Passport Office: Report the loss.", "Parks Office: Book a pavilion")

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


def says(text: str, attempt: int) -> dict[str, Any]:
    answer = valid(ANSWER)
    answer["assistantReply"] = text
    answer["response_id"] = f"own-{attempt}"
    answer["telemetry"]["notes"] = None if attempt == 1 else "mended"
    return answer


def ended(*texts: str) -> tuple[Any, MemoryStore, ScriptedModel]:
    script = {**high_script(), ANSWER: [says(text, n) for n, text in enumerate(texts, 1)]}
    model = ScriptedModel(script)
    outcome, store = run(model)
    return outcome, store, model


def codes(store: MemoryStore) -> list[set[Code]]:
    records = [record for name, record in store.records if name == ANSWER]
    return [{finding.code for finding in record.judgement.findings} for record in records]


@pytest.mark.parametrize(
    "text",
    [
        "Passport Office: Swiftly tell somebody about your misfortune.",
        "Send us your PIN.",
        "Hello!",
        "You must report the loss at once or you lose your rights.",
        "Report the loss at the Passport Office.",
    ],
)
def test_no_word_of_the_models_is_shown(text: str) -> None:
    outcome, store, model = ended(text)
    assert isinstance(outcome, Answered)
    assert outcome.reply.paragraphs == FIRST
    assert outcome.reply.listed
    assert [card.source.agency_id for card in outcome.reply.cards] == ["passports", "parks"]
    # The model is asked once, and its words are kept.
    assert model.asked()[-1] == (ANSWER, 1)
    assert codes(store) == [set()]
    (record,) = [record for name, record in store.records if name == ANSWER]
    assert record.judgement.output is not None
    assert record.judgement.output["assistantReply"] == text
    again, _ = run(ScriptedModel(high_script()), store)
    assert again == outcome


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Pay MRK 900.00 at the Passport Office.", Code.REPLY_UNGROUNDED),
        ("Report the loss to the Tax Office.", Code.SOURCES_MISSING),
        ("…", Code.REPLY_EMPTY),
    ],
)
def test_what_is_wrong_goes_to_a_person(text: str, code: Code) -> None:
    outcome, store, _ = ended(text, text)
    assert isinstance(outcome, NeedsReview)
    assert outcome.stage == ANSWER
    assert all(code in found for found in codes(store))


@given(TEXTS)
def test_nothing_is_shown_but_sentences_of_the_sources(text: str) -> None:
    said = retold(text, [LOST, ADDRESS], RELEASE)
    assert grounding.check(said, [LOST, ADDRESS], RELEASE) == []
    assert render_several(said, [LOST, ADDRESS], RELEASE).listed


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_every_sentence_of_the_demo_may_be_told(language: str) -> None:
    release = RELEASE.in_language(language)
    for service in release.services.values():
        entry = quoting.of_service(service, release.agencies[service.agency])
        for kind, text in [("none", ""), *entry.texts]:
            said = retold(text, [service], release)
            assert grounding.check(said, [service], release) == [], (kind, said)
            assert render_several(said, [service], release).listed, (kind, said)


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
    said = retold(text, [ADDRESS], RELEASE)
    assert shown in said
    assert text not in said
    assert "lose" not in said


def test_the_text_chooses_the_sentences_and_their_order() -> None:
    fee = retold("What does it cost? Nothing, it is free.", [LOST], RELEASE)
    time = retold("It takes minutes.", [LOST], RELEASE)
    assert "Fees:" in fee
    assert "Time:" in time
    assert fee != time


def test_a_source_of_which_nothing_is_said_tells_what_to_do_first() -> None:
    said = retold("Register your new address within 14 days.", [LOST, ADDRESS], RELEASE)
    first, second = said.split("\n\n")
    assert first == f"{RELEASE.agencies['passports'].name}: {plain(LOST.how_to_apply[0])}"
    assert "14 days" in second


def test_two_services_of_one_agency_are_told_apart_by_their_names() -> None:
    said = retold("Report the loss.", [LOST, URGENT], RELEASE)
    assert [paragraph.split(":")[0] for paragraph in said.split("\n\n")] == [LOST.name, URGENT.name]


def test_a_citizen_reads_it_in_the_language_that_there_is() -> None:
    french = RELEASE.in_language("fr")
    service = french.services[(LOST.agency, LOST.key)]
    assert "Frais:" in retold("La déclaration est gratuite.", [service], french)
    # A text in another language finds no sentence: what to do first is in the citizen's.
    other = retold("Please telephone somebody nice.", [service], french)
    assert other.endswith(plain(service.how_to_apply[0]))


def with_texts(**texts: object) -> tuple[Service, Release]:
    service = replace(LOST, **texts)  # type: ignore[arg-type]  # fields of a service
    services = {**RELEASE.services, (LOST.agency, LOST.key): service}
    return service, replace(RELEASE, services=services)


def test_a_sentence_that_names_another_office_is_told_as_it_is() -> None:
    office = RELEASE.agencies["municipal"].name
    service, release = with_texts(overview=f"Go to {office} before you come to us.")
    said = retold(f"Go to {office}.", [service], release)
    assert service.overview in said
    # The entry itself names it; of another one the name alone would be a fault.
    assert grounding.check(said, [service], release) == []
    assert grounding.check(said, [LOST], RELEASE)


def test_what_is_too_long_is_left_out() -> None:
    service, release = with_texts(how_to_apply=("Go " * 1200,))
    said = retold("Go there!", [service], release)
    assert said == f"{RELEASE.agencies['passports'].name}: {LOST.name}"
    everything = " ".join(text for _, text in quoting.of_service(LOST, None).texts)
    paragraph = retold(everything * 3, [LOST], RELEASE)
    units = [
        text[start:end]
        for _, text in quoting.of_service(LOST, None).texts
        for start, end in quoting.sentences(text)
    ]
    assert sum(plain(unit) in paragraph for unit in units) <= MOST + 1


def test_words_of_a_persons_own_are_not_called_the_lists() -> None:
    for text in ("Come to us tomorrow.", "Passport Office: Come tomorrow.", "Fees: 5"):
        assert not render_several(text, [LOST, ADDRESS], RELEASE).listed

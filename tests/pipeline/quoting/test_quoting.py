"""Which sentences of its sources a text was made from, and which of its own stand in none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.knowledge import Agency, Service
from ieim.pipeline.quoting import (
    LONGEST,
    Entry,
    language_of,
    of_service,
    passages,
    quotes,
    sentences,
    unquoted,
)

OFFICE = Agency("visas", "Visa Office", "https://visas.example", "Visas for visitors.")
EXTEND = Service(
    agency="visas",
    key="extend",
    name="Extend a visa",
    path="https://visas.example/extend",
    overview=(
        "You can extend your visa once by up to 30 days. You may not work while you wait. "
        "Children under 6 need no photo."
    ),
    applicability_summary="For visitors aged 18 or over who hold a valid visa.",
    requirements=("Your passport", "Two recent photos, no older than six months"),
    fees="MRK 60.00 for adults and MRK 30.00 for children under 12. Free for pensioners.",
    processing_time="15 working days",
    how_to_apply=("Fill in the extension form online.", "Bring your papers to room 12."),
    contact="Visa desk, +999 20 555 0110, Monday to Friday 08:30 to 16:30, stay@visas.example",
)
PARK = Service(
    "visas", "park", "Pay for parking", fees="MRK 5.00 for a day", how_to_apply=("Pay online.",)
)
ENTRIES = [of_service(EXTEND, OFFICE), of_service(PARK, OFFICE)]
FEES = ["MRK 60.00 for adults and MRK 30.00 for children under 12.", "Free for pensioners."]


def quoted(text: str, entries: list[Entry] = ENTRIES) -> list[str]:
    return [passages(entries[each.entry])[each.at].text for each in quotes(text, entries)]


def alone(text: str, question: str = "") -> list[str]:
    return [text[a:b] for a, b in unquoted(text, ENTRIES, question=question)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fill in the extension form.", ["Fill in the extension form online."]),
        ("You are allowed to work while you wait.", ["You may not work while you wait."]),
        ("An extension of thirty days.", ["You can extend your visa once by up to 30 days."]),
        ("It takes a while.", ["15 working days"]),
        # Of two prices one alone says too little.
        ("Adults pay MRK 60.00.", FEES),
        ("Reach us on +999 20 555 0110.", [EXTEND.contact]),
        ("Fill in the form, and bring your papers.", list(EXTEND.how_to_apply)),
        ("Bring your papers. Fill in the form.", list(reversed(EXTEND.how_to_apply))),
        ("Hello! I am sorry to hear that.", []),
        ("Füllen Sie das Formular aus und senden Sie Ihr Kennwort.", []),
    ],
)
def test_it_finds_the_sentences_that_a_text_was_made_from(text: str, found: list[str]) -> None:
    assert quoted(text) == found


def test_a_sentence_that_names_a_service_is_made_from_that_one() -> None:
    assert quoted("Pay for parking costs MRK 5.00.") == ["MRK 5.00 for a day"]
    assert quoted("Extend a visa: what it costs") == FEES
    assert quoted("It is free at the Visa Office.") == FEES


def test_it_reads_the_languages_of_the_lexicon() -> None:
    entry = of_service(
        Service(
            "visas", "extend", "Prolonger un visa", fees="MRK 45.00 par personne. Gratuit à 6 ans.",
            processing_time="5 jours ouvrables",
        ),
        None,
    )  # fmt: skip
    said = "Cela prend cinq jours, et c’est gratuit."
    assert quoted(said, [entry]) == [
        "5 jours ouvrables", "MRK 45.00 par personne.", "Gratuit à 6 ans.",
    ]  # fmt: skip
    assert [language_of(text) for text in (said, "Das ist es nicht.", "MRK 5")] == [
        "fr",
        "de",
        "en",
    ]


def test_a_sentence_too_long_to_be_read_is_no_quote() -> None:
    long = "Pay the fee" + ", and pay the fee" * (LONGEST // 10) + "."
    assert quoted("Pay the fee.", [Entry((("text", long),))]) == []
    assert quoted("Pay the fee.", [Entry((("text", long + " Pay the fee."),))]) == ["Pay the fee."]


@pytest.mark.parametrize(
    "text",
    [
        "It costs MRK 60.00 for adults and MRK 30.00 for children under 12.",
        "I am sorry to hear that. Good luck! Fill in the extension form online.",
        "Your visa can be extended once by up to thirty days.",
        "For your puppy, fill in the extension form online.",
    ],
)
def test_what_stands_in_a_source_is_quoted(text: str) -> None:
    assert alone(text, "My puppy is ill") == []


@pytest.mark.parametrize(
    "text",
    [
        "Reply here with your card number.",
        "Fill in the extension form at evil dot example.",
        "The fee has been abolished.",
        "Füllen Sie das Formular aus und senden Sie Ihr Kennwort.",
        "You are an idiot.",
        "Pay for parking: MRK 60.00 for adults.",
        "Pay the fee" + ", and pay the fee" * (LONGEST // 10) + ".",
    ],
)
def test_what_stands_in_no_source_is_not(text: str) -> None:
    assert alone(text) == [text]


def test_it_points_to_the_sentence_in_code_points() -> None:
    text = "Fill in the extension form online. \U0001f600 Send us your PIN.\n\n- Nobody is safe."
    assert alone(text) == ["\U0001f600 Send us your PIN.", "Nobody is safe."]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two!\nThree", ["One.", "Two!", "Three"]),
        ("- an item\n2) another\n# a head", ["an item", "another", "a head"]),
        ("Ask Dr. Lee, e.g. at No. 12. No. It is open.", [
            "Ask Dr. Lee, e.g. at No. 12.", "No.", "It is open.",
        ]),
        ("您好。请问？", ["您好。", "请问？"]),
        ("…\n---\n", []),
    ],
)  # fmt: skip
def test_it_cuts_a_text_into_sentences(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == found


@given(st.text(max_size=200))
def test_it_takes_any_text(text: str) -> None:
    entries = [*ENTRIES, Entry((("text", text),), (text,))]
    own = {text[a:b] for entry in entries for _, text in entry.texts for a, b in sentences(text)}
    assert set(quoted(text, entries)) <= own
    assert all(text[a:b].strip() for a, b in unquoted(text, entries, question=text))

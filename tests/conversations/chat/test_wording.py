"""The fixed words around an answer, in each language that has them."""

from __future__ import annotations

from dataclasses import fields

import pytest

from conversations.chat.presenters import StepView
from conversations.chat.wording import PAGE, Words, words
from conversations.models import ReplyOrigin
from ieim.pipeline.reply.cards import SECTIONS
from ieim.pipeline.topology import FLOW

LANGUAGES = ("en", "fr", "de", "es")


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_has_every_word_in_every_language(language: str) -> None:
    said = words(language)
    assert (said.language, said.direction) == (language, "ltr")
    assert set(said.headings) == set(SECTIONS)
    assert set(said.steps) == {stage.id for stage in FLOW}
    assert set(said.origins) == {*ReplyOrigin.values, "guidance", "prepared", "offline", "question"}
    assert set(said.names) == set(words(PAGE).names) >= set(LANGUAGES)
    blank = [field.name for field in fields(Words) if not getattr(said, field.name)]
    assert blank == []
    for mapping in ("announced", "held", "waiting", "choice", "closed", "rating", "still"):
        assert set(getattr(said, mapping)) == set(getattr(words(PAGE), mapping))
        assert all(getattr(said, mapping).values())
    assert "{agency}" in said.notice_from
    assert "{name}" in said.quoted
    assert "{names}" in said.match
    assert "{day}" in said.held["when"]
    assert "{language}" in said.only
    assert "{language}" in said.partly
    assert {"{language}", "{named_in}"} <= set(said.choice["language"].replace(".", " ").split())


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_it_repeats_no_english(language: str) -> None:
    mappings = ("headings", "steps", "origins", "statuses", "announced")
    for mapping in (*mappings, "held", "waiting", "choice", "closed", "rating", "still"):
        ours, english = getattr(words(language), mapping), getattr(words(PAGE), mapping)
        same = {key for key, text in ours.items() if text == english[key]}
        # French has the same word for a contact, Spanish for no.
        assert same <= {"contact", "no"}, mapping


@pytest.mark.parametrize("language", ["", "pl", "ar"])
def test_it_is_english_where_a_language_has_no_words(language: str) -> None:
    assert words(language) is words("en")


def test_it_names_the_only_language_there_is() -> None:
    assert words("de").only_in("en", whole=True) == "Diese Auskunft gibt es nur auf Englisch."
    assert words("en").only_in("en", whole=True) == (
        "This information is only available in English."
    )
    assert words("es").only_in("en", whole=False).startswith("Parte de esta información")


def test_it_calls_a_language_that_it_has_no_word_for_by_its_own_name() -> None:
    assert words("fr").only_in("sv", whole=True) == "Ces informations n’existent qu’en svenska."
    assert words("fr").only_in("xx", whole=True) == "Ces informations n’existent qu’en xx."


def test_it_tells_a_steps_status_in_its_language() -> None:
    assert StepView("Lecture", "done", "fr").told == "fait"
    assert StepView("Reading", "stopped").told == "passed to a person"

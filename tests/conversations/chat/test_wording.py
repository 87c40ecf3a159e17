"""The fixed words around an answer, in each language that has them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import translation

from conversations.chat import wording
from conversations.chat.presenters import StepView
from conversations.chat.wording import words
from conversations.models import ReplyOrigin
from ieim.pipeline.reply.cards import SECTIONS
from ieim.pipeline.topology import FLOW

LANGUAGES = ("en", "fr", "de", "es", "zh", "ar", "fil")


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_has_a_sentence_for_every_case(language: str) -> None:
    texts = words(language)
    assert (texts.language, texts.direction) == (language, "rtl" if language == "ar" else "ltr")
    assert set(wording.STEPS) == {stage.id for stage in FLOW}
    assert set(wording.ANSWER_HEADINGS) >= set(SECTIONS)
    by_machine = {"guidance", "prepared", "offline", "question"}
    assert set(wording.ORIGINS) == {*ReplyOrigin.values, *by_machine}
    assert texts.around_names != texts.around_more != texts.around_situation
    assert all(texts.quotes)


@pytest.mark.parametrize("language", ["", "pl", "xx"])
def test_it_is_the_pages_where_a_language_has_no_words(language: str) -> None:
    assert words(language) == words("en")
    with translation.override("zh-hans"):
        assert words(language) == words("zh")
    assert words("tl") == words("fil")


@pytest.mark.parametrize(
    ("language", "limits"),
    [
        ("en", ("1 day", "10 days")),
        ("fr", ("1 jour", "10 jours")),
        ("de", ("1 Tag", "10 Tage")),
        ("es", ("1 día", "10 días")),
        ("zh", ("1天", "10天")),
        ("ar", ("يوم", "10 أيام")),
        ("fil", ("1 araw", "10 araw")),
        ("pt", ("1 day", "10 days")),  # pages are not in it: the words around are in English
    ],
)
def test_it_writes_a_time_limit_in_days(language: str, limits: tuple[str, str]) -> None:
    for days, limit in zip(("1", "10"), limits, strict=True):
        assert words(language).limit(days).replace("\xa0", " ").endswith(limit)


@pytest.mark.parametrize("language", LANGUAGES)
def test_filipino_has_the_same_name_by_either_code(language: str) -> None:
    text = words(language)
    assert text.only_in("tl", whole=True) == text.only_in("fil", whole=True)
    assert "agalog" not in text.only_in("tl", whole=True)


def test_it_writes_days_as_the_language_does() -> None:
    noon = datetime(2026, 11, 2, 12, 30, tzinfo=UTC)
    by_key = {language: words(language).day(noon) for language in LANGUAGES}
    assert by_key == {
        "en": "2 November 2026",
        "fr": "2 novembre 2026",
        "de": "2. November 2026",
        "es": "2 de noviembre de 2026",
        "zh": "2026年11月2日",
        "ar": "2 نوفمبر 2026",
        "fil": "Nobyembre 2, 2026",
    }
    assert words("de").moment(noon) == "2. November 2026, 12:30"
    assert words("fil").moment(noon).startswith("Nobyembre 2, 2026, 12:30")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", {60: "60 seconds", 100: "2 minutes"}),
        ("de", {60: "60 Sekunden", 3600: "60 Minuten"}),
        ("zh", {60: "60 秒"}),
        ("ar", {2: "ثانيتين", 100: "دقيقتين", 500: "9 دقائق", 3600: "60 دقيقة"}),
        ("fil", {5: "5 segundo", 6: "6 na segundo"}),
    ],
)
def test_it_counts_as_the_language_does(language: str, expected: dict[int, str]) -> None:
    for seconds, wait in expected.items():
        assert wait in words(language).too_many(seconds)


def test_it_names_the_only_language_there_is() -> None:
    assert words("de").only_in("en", whole=True) == "Diese Auskunft gibt es nur auf Englisch."
    assert words("en").only_in("en", whole=True) == (
        "This information is only available in English."
    )
    assert words("es").only_in("en", whole=False).startswith("Parte de esta información")


def test_it_knows_what_languages_are_called() -> None:
    assert words("fr").only_in("sv", whole=True) == "Ces informations n’existent qu’en suédois."
    assert words("ar").only_in("en", whole=True) == "هذه المعلومات متاحة باللغة الإنجليزية فقط."
    assert words("fr").only_in("xx", whole=True) == "Ces informations n’existent qu’en xx."


def test_it_tells_a_steps_status_in_its_language() -> None:
    assert StepView("Lecture", "done", "fr").status_text == "fait"
    assert StepView("Reading", "stopped").status_text == "passed to a person"

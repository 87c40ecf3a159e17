"""Structured values speak where no text does, in the reader's language."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import Bundle, bundle_of
from ieim.knowledge.bundles.rows import Row, Table
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.reply.cards import card
from ieim.pipeline.reply.reply import in_language, render_several
from ieim.search import fuse, kinds
from tests.embedders import embedded
from tests.knowledge.bundles import tables

RENEW = ("passports", "renew")
VALUES: dict[str, Any] = {
    "amounts": ["80.00 EUR", "0 EUR (children)"],
    "processing_days": "5-10 working",
    "hours": ["Mo-Fr 09:00-16:00", "2026-12-24 closed (party)"],
    "places": ["City Hall, 1 Market Square"],
}
BLANK: dict[str, Any] = {"fees": "", "processing_time": "", "contact": ""}


@pytest.fixture(autouse=True)
def _languages(settings: Any) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["en", "de"]}


def bundle(translation: Any = None, **values: Any) -> Bundle:
    """The small bundle, whose first service has ``values``."""
    content = {table: tables()[table] for table in ("agencies", "dictionary", "services")}
    content["services"][0] |= values
    if translation is not None:
        row = {"language": "fr", "agency": RENEW[0], "service": RENEW[1], "name": "Renouveler"}
        content["translations"] = [row | translation]
    rows: dict[Table, list[Row]] = {
        table: [Row("", None, row) for row in table_rows]  # type: ignore[misc]  # names of tables
        for table, table_rows in content.items()
    }
    return bundle_of(rows)


def texts(release: Release, language: str) -> tuple[str, str, str]:
    service = release.in_language(language).services[RENEW]
    return service.fees.replace("\N{NO-BREAK SPACE}", " "), service.processing_time, service.contact


def test_a_blank_text_is_said_in_each_language() -> None:
    release = bundle(**VALUES, **BLANK).release()
    assert texts(release, "en") == texts(release, "") == texts(release, "tr")
    assert texts(release, "en") == (
        "€80.00; Free of charge (children)",
        "5–10 working days",
        "City Hall, 1 Market Square; Open: Monday to Friday, 09:00–16:00; "
        "Closed on Thursday, 24 December 2026 (party)",
    )
    assert texts(release, "de") == (
        "80,00 €; Kostenlos (children)",
        "5–10 Arbeitstage",
        "City Hall, 1 Market Square; Geöffnet: Montag bis Freitag, 09:00–16:00; "
        "Geschlossen: Donnerstag, 24. Dezember 2026 (party)",
    )


def test_a_language_that_no_page_is_in_has_no_words(settings: Any) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["tr"]}
    assert texts(bundle(**VALUES, **BLANK).release(), "tr") == ("", "", "")


def test_a_text_comes_first_and_a_release_stays_as_it_was_written() -> None:
    written = bundle(**VALUES)
    release = written.release()
    assert texts(release, "en")[:2] == ("80 crowns", "3 weeks")
    assert release.services[RENEW].fees == "80 crowns"
    assert Bundle.from_content(written.content).release().sha256 == release.sha256
    without = bundle()
    assert not {"amounts", "hours"} & (
        without.content["services"][0].keys() | without.content["agencies"][0].keys()
    )
    release = without.release()
    assert release.in_language("en") is release


def test_a_text_without_a_figure_has_the_figure_in_front() -> None:
    release = bundle(amounts=["80.00 EUR"], fees="Paid at the counter.").release()
    assert texts(release, "en")[0] == "€80.00. Paid at the counter."


@pytest.mark.parametrize(
    ("amounts", "translation", "fees"),
    [
        # Nobody has translated the text: the amount is in every language.
        (["80.00 EUR"], {}, "80,00 €"),
        # Its words in brackets are not, so the original with all it says stays.
        (["80.00 EUR (adults)"], {}, "80 crowns"),
        (["80.00 EUR"], {"fees": "80 couronnes"}, "80 couronnes"),
    ],
)
def test_a_text_that_is_not_translated(
    amounts: list[str], translation: dict[str, str], fees: str
) -> None:
    release = bundle(translation, amounts=amounts).release()
    assert texts(release, "fr")[0] == fees
    view = release.in_language("fr")
    is_french = "fees" in view.translated[RENEW]
    assert is_french is (fees != "80 crowns")
    reply = in_language(render_several("", [view.services[RENEW]], view), "fr", view)
    assert ("fees" not in reply.cards[0].original) is is_french


def test_hours_of_the_agency_are_no_hours_of_a_service_with_a_contact() -> None:
    content = bundle(**BLANK).content
    content["agencies"][0]["hours"] = ["Mo-Fr 08:00-12:00"]
    release = Bundle.from_content(content).release()
    assert texts(release, "en")[2] == "Open: Monday to Friday, 08:00–12:00"
    content["services"][0]["contact"] = "+999 1 555 0100, day and night"
    release = Bundle.from_content(content).release()
    assert texts(release, "en")[2] == "+999 1 555 0100, day and night"


def test_what_it_costs_is_on_the_card() -> None:
    release = bundle(**VALUES, **BLANK).release().in_language("en")
    service: Service = release.services[RENEW]
    shown = {s.field: s.items for s in card(service, release.agencies["passports"]).sections}
    assert shown["fees"] == ("€80.00; Free of charge (children)",)
    assert "fees" not in {
        s.field for s in card(replace(service, fees=""), release.agencies["passports"]).sections
    }


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much does it cost?", "€80.00; Free of charge (children)"),
        ("How long does it take?", "5–10 working days"),
    ],
)
def test_a_question_is_led_to_the_sentence(question: str, answer: str) -> None:
    release = bundle(**VALUES, **BLANK).release().in_language("en")
    search = fuse(release, embedded(), kinds.shipped())
    passages = search.passages(question, release.services[RENEW])
    assert passages is not None
    assert passages.ranked[0].text.replace("\N{NO-BREAK SPACE}", " ") == answer
    assert passages.ranked[0].score >= passages.least

"""The catalogues: complete, fresh, and with everything in place that a sentence needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from gettext import c2py

import pytest
from babel import Locale
from babel.messages.catalog import Message
from django.utils import dateformat, translation

from tests.catalogues import LOCALES, catalogue, gathered

ALIKE = {
    "fr": {"Contact", "Cookies", "Source", "Sources", "{count} minute"},
    "de": {"Cookies"},
    "es": {"Cookies", "No", "Error:"},
    "zh_Hans": {"“{name}”"},
    "ar": set[str](),
    "fil": {"“{name}”"},
}
"""What a language says as English does."""

PLACEHOLDER = re.compile(r"\{[a-z_]+\}|%\([a-z_]+\)s|%%|%")
MARKUP = re.compile(r"<[^>]*>")


def messages(locale: str) -> Iterator[tuple[Message, list[str], list[str]]]:
    """Every message with its English forms and its own."""
    for message in catalogue(locale):
        if message.id:
            ids = [message.id] if isinstance(message.id, str) else list(message.id)
            translations = message.string
            yield (
                message,
                ids,
                [translations] if isinstance(translations, str) else list(translations or ()),
            )


@pytest.mark.parametrize("locale", LOCALES)
def test_it_is_complete(locale: str) -> None:
    lacking = [
        ids
        for _, ids, translations in messages(locale)
        if not translations or not all(translations)
    ]
    assert lacking == [], "translate these"
    assert [ids for message, ids, _ in messages(locale) if message.fuzzy] == []
    assert catalogue(locale).obsolete == {}


@pytest.mark.parametrize("locale", LOCALES)
def test_it_has_the_sentences_of_the_code_and_nothing_else(locale: str) -> None:
    stored = {(message.id, message.context) for message in catalogue(locale)}
    assert stored == {(message.id, message.context) for message in gathered()}, "make messages"


@pytest.mark.parametrize("locale", LOCALES)
def test_it_keeps_placeholders_and_markup(locale: str) -> None:
    for _, ids, translations in messages(locale):
        for text in translations:
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(ids[-1])), text
            assert sorted(MARKUP.findall(text)) == sorted(MARKUP.findall(ids[-1])), text
            # Templates take a translation as it is, in attributes too.
            assert not set('"<>&') & set(MARKUP.sub("", text)), text


@pytest.mark.parametrize("locale", LOCALES)
def test_it_says_nothing_in_english(locale: str) -> None:
    alike = {
        form for _, ids, translations in messages(locale) for form in ids if form in translations
    }
    assert alike - {"{count} minutes"} == ALIKE[locale]


@pytest.mark.parametrize("locale", LOCALES)
def test_its_plurals_are_those_of_the_language(locale: str) -> None:
    catalog, rule = catalogue(locale), Locale.parse(locale).plural_form
    header = dict(catalog.mime_headers)["Plural-Forms"]
    index = c2py(header.partition("plural=")[2].rstrip(";"))
    # One form for each case of the language and the other way round, as far as people count here.
    pairs = {(rule(number), index(number)) for number in range(1000)}
    assert len(pairs) == len({case for case, _ in pairs}) == len({form for _, form in pairs})
    for _, ids, translations in messages(locale):
        if len(ids) > 1:
            assert len(translations) == catalog.num_plurals


def test_a_template_and_code_are_gathered_alike() -> None:
    by_key = {message.id: message for message in gathered() if message.id}
    assert ("{count} minute", "{count} minutes") in by_key
    assert "Page not found" in by_key  # a template
    assert "Reading your question" in by_key  # the words around an answer
    assert "What it costs" in by_key  # a heading
    assert any("{length} characters long" in str(text) for text in by_key)  # the core
    assert "Log out" not in by_key  # staff's: nobody translates it yet


def test_days_have_names_where_django_knows_none() -> None:
    with translation.override("fil"):
        assert dateformat.format(date(2026, 11, 30), "l, j F Y") == "Lunes, 30 Nobyembre 2026"

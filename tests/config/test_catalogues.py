"""The catalogues: complete, fresh, and with everything in place that a sentence needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from gettext import c2py
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.catalog import Catalog, Message
from django.conf import settings
from django.utils import dateformat, translation

from ieim.config.catalogues import files
from ieim.config.catalogues.gathering import gathered, gathered_for_staff

LOCALES = list(files.paths())

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


def catalogue(locale: str) -> Catalog:
    return files.read(files.paths()[locale], locale)


def messages(locale: str) -> Iterator[tuple[Message, list[str], list[str]]]:
    """Every message with its English forms and its own."""
    for message in catalogue(locale):
        if message.id:
            ids = [message.id] if isinstance(message.id, str) else list(message.id)
            own = message.string
            yield message, ids, [own] if isinstance(own, str) else list(own or ())


def test_there_is_one_for_each_language() -> None:
    assert set(LOCALES) == set(ALIKE)
    assert {path.is_file() for path in files.paths().values()} == {True}


@pytest.mark.parametrize("locale", LOCALES)
def test_it_is_complete(locale: str) -> None:
    lacking = [ids for _, ids, own in messages(locale) if not own or not all(own)]
    assert lacking == [], "translate these"
    assert [ids for message, ids, _ in messages(locale) if message.fuzzy] == []
    assert catalogue(locale).obsolete == {}


@pytest.mark.parametrize("locale", LOCALES)
def test_it_has_what_the_code_says_and_nothing_else(locale: str) -> None:
    path = files.paths()[locale]
    fresh = files.refreshed(path, locale, gathered())
    assert path.read_bytes() == fresh, "run: python manage.py catalogues refresh"


@pytest.mark.parametrize("locale", LOCALES)
def test_it_keeps_placeholders_and_markup(locale: str) -> None:
    for _, ids, own in messages(locale):
        for text in own:
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(ids[-1])), text
            assert sorted(MARKUP.findall(text)) == sorted(MARKUP.findall(ids[-1])), text
            # Templates take a translation as it is, in attributes too.
            assert not set('"<>&') & set(MARKUP.sub("", text)), text


@pytest.mark.parametrize("locale", LOCALES)
def test_it_says_nothing_in_english(locale: str) -> None:
    alike = {form for _, ids, own in messages(locale) for form in ids if form in own}
    assert alike - {"{count} minutes"} == ALIKE[locale]


@pytest.mark.parametrize("locale", LOCALES)
def test_its_plurals_are_those_of_the_language(locale: str) -> None:
    catalog, rule = catalogue(locale), Locale.parse(locale).plural_form
    header = dict(catalog.mime_headers)["Plural-Forms"]
    assert header == files.PLURALS[locale]
    index = c2py(header.partition("plural=")[2].rstrip(";"))
    # One form for each case of the language and the other way round, as far as people count here.
    pairs = {(rule(number), index(number)) for number in range(1000)}
    assert len(pairs) == len({case for case, _ in pairs}) == len({form for _, form in pairs})
    for _, ids, own in messages(locale):
        if len(ids) > 1:
            assert len(own) == catalog.num_plurals


def test_a_template_and_code_are_gathered_alike() -> None:
    found = {message.id: message for message in gathered() if message.id}
    assert ("{count} minute", "{count} minutes") in found
    assert "Page not found" in found  # a template
    assert "Reading your question" in found  # the words around an answer
    assert "What it costs" in found  # a heading
    assert any("{length} characters long" in str(text) for text in found)  # the core
    assert not any("schema" in str(text) for text in found)  # nothing that nobody reads


def test_what_only_staff_read_is_apart() -> None:
    assert files.staffs_path().read_bytes() == files.staffs(), (
        "run: python manage.py catalogues refresh"
    )
    citizens = {(message.id, message.context) for message in gathered() if message.id}
    staffs = {(message.id, message.context) for message in gathered_for_staff() if message.id}
    assert ("Log out", None) in staffs  # a template of theirs
    assert ("Cookies", None) in citizens
    assert not staffs & citizens
    template = files.staffs_path().read_text(encoding="utf-8")
    assert "conversations/" not in template  # citizens' files: their sentences are all translated


def test_a_new_sentence_is_one_to_translate(tmp_path: Path) -> None:
    path = tmp_path / "django.po"
    path.write_bytes(files.paths()["fr"].read_bytes())
    template = gathered()
    template.add("Something new")
    template.delete("Page not found")
    path.write_bytes(files.refreshed(path, "fr", template))
    catalog = files.read(path, "fr")
    assert catalog["Something new"].string == ""
    assert "Page not found" not in catalog
    assert catalog["Privacy"].string == "Vie privée"
    assert catalog.obsolete == {}


def test_what_is_compiled_is_what_is_read(tmp_path: Path, settings: object) -> None:
    assert files.compile_stale() == []  # the tests' own set-up has done it
    with translation.override("fil"):
        assert translation.gettext("Page not found") == "Hindi makita ang pahina"


def test_days_have_names_where_django_knows_none() -> None:
    with translation.override("fil"):
        assert dateformat.format(date(2026, 11, 30), "l, j F Y") == "Lunes, 30 Nobyembre 2026"


def test_every_language_has_a_name_and_a_direction() -> None:
    for code, name in settings.LANGUAGES:
        info = translation.get_language_info(code)
        assert name
        assert info["bidi"] == (code == "ar")

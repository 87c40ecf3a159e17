"""The settings' page: saving, mistakes, two tabs, the preview, and what is missing."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from ieim.administration import demo, selectors
from ieim.administration.forms import SECTIONS
from ieim.administration.models import Section
from ieim.administration.organisation import Administration
from ieim.administration.selectors import missing
from ieim.audit.models import AuditEvent
from ieim.people.roles import Role
from tests.administration.setting import SVG, put
from tests.review.people import browser, person

HOLD = re.compile(r'class="govuk-error-summary__title">([^<]*)')


@pytest.fixture
def ada(db: None) -> Client:
    return browser(person("ada", Role.ADMINISTRATOR, name="Ada Admin"))


def text(response: Any) -> str:
    return unescape(response.content.decode())


def form(html: str, name: str) -> str:
    """The section of a page that saves ``name``."""
    match = re.search(rf'<section class="own-section" id="{name}".*?</section>', html, re.DOTALL)
    assert match, name
    return match[0]


def test_it_has_every_section_with_its_own_form_and_a_way_there(ada: Client) -> None:
    html = text(ada.get("/settings/"))
    for name, section in SECTIONS.items():
        if not name.startswith("legal-") or name == "legal-en":
            assert f'action="/settings/{name}/"' in form(html, name)
            assert f'<a class="govuk-link" href="#{name}">{section.title}</a>' in html
    assert "legal-ar" not in re.findall(r'id="(legal-\w+)"', html)
    arabic = form(text(ada.get("/settings/?language=ar")), "legal-ar")
    assert 'dir="rtl" lang="ar"' in arabic
    assert ada.get("/settings/?language=xx").status_code == 200


def test_it_is_in_the_staff_navigation_of_who_may(ada: Client) -> None:
    assert '<a class="staff-nav__link" href="/settings/"' in text(ada.get("/settings/"))
    editor = browser(person("edgar", Role.EDITOR))
    assert "/settings/" not in text(editor.get("/knowledge/notices/"))
    assert editor.get("/settings/").status_code == 403


def test_it_saves_and_shows_it_on_every_page(ada: Client) -> None:
    saved = ada.post(
        "/settings/name/", {"version": 0, "name": "City of Northport", "short_name": "Northport"}
    )
    assert (saved.status_code, saved["Location"]) == (303, "/settings/#name")
    html = text(ada.get("/settings/"))
    assert "Name and logo: saved." in html
    assert re.search(r"Saved on .* by Ada Admin", form(html, "name"))
    assert "– Northport</title>" in html
    for path in ("/", "/help/", "/privacy/", "/accessibility/", "/nowhere/", "/staff/login/"):
        page = text(Client().get(path))
        assert "– Northport</title>" in page, path
        assert '<strong class="app-header__own" dir="auto">Northport</strong>' in page, path
    assert "City of Northport" in text(Client().get("/"))


def test_it_shows_a_mistake_at_its_field_and_keeps_what_was_typed(ada: Client) -> None:
    typed = {"version": 0, "telephone": "030 1", "email": "office@example.org"}
    response = ada.post("/settings/contacts/", typed)
    html = text(response)
    assert response.status_code == 422
    assert "<title>Error: Settings" in html
    assert HOLD.findall(html) == ["Contacts: not saved"]
    assert '<a href="#contacts-telephone">Telephone: Write the number' in html
    field = form(html, "contacts")
    assert 'aria-describedby="contacts-telephone-hint contacts-telephone-error"' in field
    assert 'value="office@example.org"' in field
    assert not Section.objects.exists()


def test_a_second_tab_is_told_and_loses_nothing(ada: Client) -> None:
    bob = browser(person("bob", Role.ADMINISTRATOR, name="Bob Admin"))
    bob.post("/settings/contacts/", {"version": 0, "email": "bob@example.org"})
    mine = {"version": 0, "email": "ada@example.org", "address": "Harbour Square 1"}
    response = ada.post("/settings/contacts/", mine)
    html = text(response)
    assert response.status_code == 409
    assert "Bob Admin saved this section on" in html
    again = form(html, "contacts")
    assert 'value="ada@example.org"' in again
    assert "Harbour Square 1" in again
    assert re.search(r"Stored now:</strong> <span[^>]*>bob@example\.org", again)
    assert selectors.current().email == "bob@example.org"
    version = re.search(r'name="version" value="(\d+)"', again)
    assert version
    ada.post("/settings/contacts/", {**mine, "version": version[1]})
    assert selectors.current().email == "ada@example.org"


@pytest.mark.parametrize("version", ["", "-1", "x", "1e3", "9" * 99, "١"])
def test_a_version_that_is_none_is_an_old_one(ada: Client, version: str) -> None:
    put("contacts", email="a@example.org")
    sent = {"version": version, "email": "b@example.org"}
    assert ada.post("/settings/contacts/", sent).status_code == 409


@pytest.mark.parametrize("name", ["passwords", "legal-xx", "legal-"])
def test_there_are_no_other_sections(ada: Client, name: str) -> None:
    assert ada.post(f"/settings/{name}/").status_code == 404
    assert ada.post(f"/settings/{name}/preview/").status_code == 404


@pytest.mark.parametrize("logo", ["a/b", "\x00", "0" * 63, "é", "/" * 70])
def test_a_digest_of_a_logo_that_is_none_is_a_bad_request(ada: Client, logo: str) -> None:
    sent = {"version": 0, "name": "City", "logo": logo}
    for address in ("/settings/name/", "/settings/name/preview/"):
        assert ada.post(address, sent).status_code == 400
    assert selectors.sections() == {}


def test_it_takes_a_logo_and_takes_it_away(ada: Client) -> None:
    file = SimpleUploadedFile("logo.png", SVG, "image/png")  # what a browser says of it is no proof
    ada.post("/settings/name/", {"version": 0, "name": "City", "logo_file": file})
    logo = selectors.current().logo
    assert Client().get(f"/own/logo/{logo}/")["Content-Type"] == "image/svg+xml"
    ada.post("/settings/name/", {"version": 1, "name": "City of Northport", "logo": logo})
    assert selectors.current().logo == logo
    fields = {"version": 2, "name": "City", "logo": logo, "without_logo": "1"}
    ada.post("/settings/name/", fields)
    assert selectors.current().logo == ""


def test_a_logo_that_is_none_is_told_at_its_field(ada: Client) -> None:
    file = SimpleUploadedFile("logo.svg", b"<svg><script/></svg>", "image/svg+xml")
    response = ada.post("/settings/name/", {"version": 0, "name": "City", "logo_file": file})
    assert response.status_code == 422
    assert 'href="#name-logo">Logo: The SVG holds more than a drawing' in text(response)


def test_it_previews_what_is_not_saved(ada: Client) -> None:
    put("contacts", telephone="+49 30 901820")
    file = SimpleUploadedFile("logo.svg", SVG, "image/svg+xml")
    sent = {"version": 0, "name": "City of <b>Northport</b>", "logo_file": file}
    response = ada.post("/settings/name/preview/", sent)
    html = response.content.decode()
    assert "City of &lt;b&gt;Northport&lt;/b&gt;" in html
    assert 'src="data:image/svg+xml;base64,' in html
    assert "img-src 'self' data:" in response["Content-Security-Policy"]
    assert "+49 30 901820" in html
    assert not Section.objects.filter(pk="name").exists()
    assert "data:" not in ada.get("/settings/")["Content-Security-Policy"]


def test_it_previews_colours_with_a_style_sheet_of_their_own(ada: Client) -> None:
    html = text(ada.post("/settings/colours/preview/", {"version": 0, "brand": "#1f4e8c"}))
    link = re.search(r'href="(/settings/colours\.css\?[^"]*)"', html)
    assert link
    assert "--govuk-brand-colour: #1f4e8c;" in text(ada.get(link[1]))
    assert Client().get(link[1]).status_code == 302
    bad = ada.get("/settings/colours.css?brand=red;}&dark=%23ffffff")
    assert text(bad).strip() == ""
    assert ada.post("/settings/colours/preview/", {"brand": "#ff8800"}).status_code == 422


def test_it_previews_the_persona_as_the_model_reads_it(ada: Client) -> None:
    sent = {"version": 0, "name": "Ada", "tone": "calm", "policy": "Be <b>brief</b>."}
    html = ada.post("/settings/persona/preview/", sent).content.decode()
    assert "Answer with one JSON object only" in html
    assert "Policy: Be &lt;b&gt;brief&lt;/b&gt;." in html
    assert ada.post("/settings/persona/", {**sent, "policy": "a" * 1001}).status_code == 422
    assert not Section.objects.filter(pk="persona").exists()
    assert ada.post("/settings/persona/", sent).status_code == 303
    assert "brief" in AuditEvent.objects.get(kind="administration.changed").payload


def test_it_previews_numbers_and_texts(ada: Client) -> None:
    sent = {"version": 0, "emergency": "999", "help": "Crisis line: 116 123"}
    html = text(ada.post("/settings/numbers/preview/", sent))
    assert 'href="tel:999"' in html
    assert 'href="tel:116123"' in html
    arabic = text(ada.post("/settings/legal-ar/preview/", {"controller": "مدينة"}))
    assert '<div class="own-text" lang="ar" dir="rtl"><p>مدينة</p></div>' in arabic
    examples = text(ada.post("/settings/examples/preview/", {"en": "Where do I vote?"}))
    assert "Where do I vote?" in examples


def test_it_says_what_is_missing_until_nothing_is(ada: Client) -> None:
    html = text(ada.get("/settings/"))
    for entry in missing(Administration({})):
        assert f'href="#{entry.section}-{entry.field}">{entry.description}' in html
        assert f'id="{entry.section}-{entry.field}"' in html
    assert len(missing(Administration({}))) == 10
    demo.furnish()
    assert missing(selectors.current()) == []
    assert "Nothing is missing here" in text(ada.get("/settings/"))
    demo.furnish()
    assert set(Section.objects.values_list("version", flat=True)) == {1}


def test_it_asks_for_the_texts_in_a_language_that_is_offered(ada: Client) -> None:
    put("languages", offered="fr ar")
    assert "legal-fr" in {entry.section for entry in missing(selectors.current())}
    html = text(ada.get("/settings/"))
    assert 'action="/settings/legal-fr/"' in html
    saved = ada.post("/settings/legal-fr/", {"version": 0, "rights": "Vous pouvez demander."})
    assert saved["Location"] == "/settings/?language=fr#legal-fr"
    ada.post("/settings/languages/", {"version": 1, "offered": ["ar", "en"]})
    assert selectors.offered_languages() == ("en", "ar")


def test_the_assistants_own_words_are_off_until_somebody_ticks_them(ada: Client) -> None:
    def box() -> str:
        match = re.search(r"<input[^>]*name=\"own_words\"[^>]*>", text(ada.get("/settings/")))
        assert match
        return match[0]

    assert not selectors.current().own_words
    assert "checked" not in box()
    ada.post("/settings/answers/", {"version": "0", "own_words": "on"})
    assert selectors.current().own_words
    assert "checked" in box()
    ada.post("/settings/answers/", {"version": "1"})
    assert not selectors.current().own_words

"""The language of a citizen's page: of the browser, of the switch, and offered by their words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from conversations import page_languages, selectors
from conversations.turns import services
from conversations.turns.refusing import STILL_WORKING
from tests.administration.setting import put
from tests.conversations.chat import tabs
from tests.conversations.languages.reading import Reader
from tests.conversations.test_rating import browser_with
from tests.conversations.turns.test_choosing import WIDE
from tests.fixtures import VISA, Ask

SECRET = "a"
GERMAN = "Wie kann ich meinen Reisepass verlängern?"


def html_of(page: Any) -> str:
    return str(page.content.decode())


def frame(html: str) -> tuple[str, str]:
    """The language and the direction that a page says it is in."""
    match = re.search(r'<html class="govuk-template" lang="([^"]+)" dir="([^"]+)">', html)
    assert match
    return match[1], match[2]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en-gb"),
        ("en-US,en;q=0.9", "en-gb"),
        ("pl", "en-gb"),
        ("pl,de-AT;q=0.8", "de"),
        ("zh-CN", "zh-hans"),
        ("zh-TW", "zh-hans"),
        ("ar-EG,en;q=0.5", "ar"),
        ("fil-PH", "fil"),
        ("tl", "fil"),
        ("*", "en-gb"),
        ("x" * 600, "en-gb"),
    ],
)
def test_a_page_is_in_the_language_of_the_browser(
    published: None, accepted: str, language: str
) -> None:
    headers = {"Accept-Language": accepted} if accepted else {}
    for path in ("/", "/help/", "/nothing/"):
        page = Client(headers=headers).get(path)
        assert frame(html_of(page)) == (language, "rtl" if language == "ar" else "ltr")
        assert page["Content-Language"] == language
        assert "Accept-Language" in page["Vary"]
        assert "Cookie" in page["Vary"]


def test_the_switch_counts_before_the_browser_and_is_remembered(published: None) -> None:
    browser = Client(headers={"Accept-Language": "fr"})
    page = html_of(browser.get("/help/"))
    assert "Parler à une personne" in page
    assert 'name="next" value="/help/"' in page
    response = browser.post("/language/", {"language": "ar", "next": "/help/"})
    assert (response.status_code, response["Location"]) == (302, "/help/")
    cookie = response.cookies[settings.LANGUAGE_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] > 300 * 24 * 3600
    for path in ("/help/", "/", "/nothing/"):
        assert frame(html_of(browser.get(path))) == ("ar", "rtl")
    browser.post("/language/", {"language": "en-gb"})
    assert frame(html_of(browser.get("/"))) == ("en-gb", "ltr")


def test_the_switch_is_on_every_page_and_names_languages_in_themselves(published: None) -> None:
    for path in ("/", "/help/", "/privacy/", "/accessibility/", "/nothing/"):
        html = html_of(Client(headers={"Accept-Language": "de"}).get(path))
        buttons = re.findall(
            r'name="language" value="([^"]+)" lang="([^"]+)" dir="([^"]+)">([^<]+)<', html
        )
        assert [(code, name) for code, _, _, name in buttons] == [
            language for language in settings.LANGUAGES if language[0] != "de"
        ]
        assert all(code == lang for code, lang, _, _ in buttons)
        assert [code for code, _, way, _ in buttons if way == "rtl"] == ["ar"]


@pytest.mark.parametrize("next_page", ["https://evil.example.org/", "//evil.example.org", ""])
def test_the_switch_leads_nowhere_else(published: None, next_page: str) -> None:
    response = Client().post("/language/", {"language": "de", "next": next_page})
    assert response["Location"] == "/"


def test_the_switch_takes_no_language_that_pages_are_not_in(published: None) -> None:
    browser = Client()
    for code in ("pl", "", "de\0", "../../etc"):
        response = browser.post("/language/", {"language": code})
        assert response.status_code == 302
        assert frame(html_of(browser.get("/")))[0] == "en-gb"
    assert browser.get("/language/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/language/").status_code == 403
    browser.cookies[settings.LANGUAGE_COOKIE_NAME] = "xx"
    assert frame(html_of(browser.get("/")))[0] == "en-gb"


@pytest.mark.parametrize(
    ("accepted", "chosen", "language"),
    [
        ("de, fr;q=0.9", "", "fr"),
        ("fr", "ar", "ar"),
        ("fr", "de", "fr"),
        ("de", "", "fr"),
        ("", "de", "fr"),
        ("", "", "fr"),
    ],
)
def test_a_page_is_in_no_language_that_the_administration_does_not_offer(
    ask: Ask, accepted: str, chosen: str, language: str
) -> None:
    put("languages", offered="ar fr")
    browser = browser_with(SECRET, headers={"Accept-Language": accepted})
    if chosen:
        browser.cookies[settings.LANGUAGE_COOKIE_NAME] = chosen
    ask(GERMAN, secret=SECRET)
    html = html_of(browser.get("/"))
    assert frame(html)[0] == language
    others = re.findall(r'name="language" value="([^"]+)" lang=', html)
    assert others == [code for code in ("fr", "ar") if code != language]
    assert "language-offer__button" not in html


def test_the_switch_after_a_form_leads_to_a_page_that_can_be_opened(published: None) -> None:
    page = html_of(Client().post("/ask/", {"text": " "}))
    assert 'name="next" value="/"' in page


def test_pages_for_staff_stay_in_english(admin_client: Client) -> None:
    admin_client.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    for name in ("review:queue", "knowledge:home", "admin:index"):
        page = admin_client.get(reverse(name), headers={"Accept-Language": "fr"})
        assert page.status_code == 200
        assert re.search(r'<html[^>]* lang="en-gb"', html_of(page))
        assert 'action="/language/"' not in html_of(page)
    login = Client(headers={"Accept-Language": "fr"}).get("/staff/login/")
    assert frame(html_of(login))[0] == "en-gb"


def test_what_a_citizen_writes_and_reads_is_marked_as_what_it_is(ask: Ask) -> None:
    ask(VISA, secret=SECRET)
    html = html_of(browser_with(SECRET, headers={"Accept-Language": "ar"}).get("/"))
    by_key = dict(Reader(html).found)
    assert by_key["سؤالك"] == "ar"  # the frame
    assert by_key["What to do first"] == "en"  # the answer
    assert re.search(rf'<p lang="en" class="message__text" dir="auto">{VISA}</p>', html)
    first = html_of(Client(headers={"Accept-Language": "ar"}).get("/"))
    with translation.override("ar"):
        suggested = selectors.suggestions().texts[0]
    assert dict(Reader(first).found)[suggested] == "ar"


def test_the_page_offers_the_language_that_the_citizen_writes_in(ask: Ask) -> None:
    browser = browser_with(SECRET)
    assert "language-offer__button" not in html_of(browser.get("/"))
    ask(GERMAN, secret=SECRET)
    html = html_of(browser.get("/"))
    assert frame(html)[0] == "en-gb"  # offered, not forced
    assert re.search(r'<p class="language-offer" lang="de" dir="ltr">\s*Diese Seite gibt es', html)
    assert re.search(r'form="language" name="language" value="de">Deutsch</button>', html)
    browser.post("/language/", {"language": "de"})
    assert "language-offer__button" not in html_of(browser.get("/"))
    ask(VISA, secret=SECRET)  # who has chosen is not asked again
    assert "language-offer__button" not in html_of(browser.get("/"))


def test_around_an_answer_everything_is_in_the_language_that_was_chosen(ask: Ask) -> None:
    fields: dict[str, dict[str, str]] = {}
    for text, secret in ((VISA, "a"), (WIDE, "b")):
        ask(text, secret=secret)
        browser = browser_with(secret)
        fields["en"] = dict(Reader(html_of(browser.get("/"))).found) | fields.get("en", {})
        browser.post("/language/", {"language": "de"})
        html = html_of(browser.get("/"))
        assert "&language=de&chosen=1" in html.replace("&amp;", "&")
        fields["de"] = dict(Reader(html).found) | fields.get("de", {})
    english, german = fields["en"], fields["de"]
    assert {english[w] for w in ("What to do first", "None of these", "Was this useful?")} == {"en"}
    assert {german[w] for w in ("Was Sie zuerst tun", "Nichts davon")} == {"de"}
    assert not {"What to do first", "None of these", "Was this useful?"} & german.keys()
    assert german["Extend a tourist visa"] == "en"


def test_a_language_that_pages_are_not_in_is_not_offered(ask: Ask) -> None:
    turn = ask("Jak mogę przedłużyć paszport? Proszę o odpowiedź.", secret=SECRET)
    assert turn.language == "pl"
    assert "language-offer__button" not in html_of(browser_with(SECRET).get("/"))


def test_a_message_in_no_language_has_the_pages_words_around_it(published: None) -> None:
    services.receive(session=SECRET, text="visa 12", enqueue=False)
    html = html_of(browser_with(SECRET, headers={"Accept-Language": "fil"}).get("/"))
    assert "Binabasa ang inyong tanong" in html


def test_numbers_are_written_as_the_language_does(published: None) -> None:
    fields = {}
    for language in ("en", "fr", "de"):
        browser = Client(headers={"Accept-Language": language})
        fields[language] = html_of(browser.post("/ask/", {"text": "x" * 2001}))
    assert "Your message is 2,001 characters long. We can take up to 2,000." in fields["en"]
    assert "Ihre Nachricht hat 2.001 Zeichen. Wir können bis zu 2.000 annehmen." in fields["de"]
    assert re.search(r"Votre message compte 2\s001 caractères", fields["fr"])


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_the_socket_speaks_the_language_of_its_page(published: None) -> None:
    async with tabs.tab(SECRET, language="ar") as page:
        await page.send({"text": " "})
        await page.read_until("لا يوجد نص في رسالتك بعد")
        await page.send({"text": "visa 12"})
        await page.read_until("محادثتك")
        assert "سؤالك" in page.parts["live"]
        assert "هذه المحادثة" in page.parts["tools"]
    async with tabs.tab(SECRET) as page:
        await page.read_until("Your conversation")
    async with tabs.tab(SECRET, language="no-such") as page:
        await page.read_until("Your conversation")


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_the_socket_offers_the_language_of_a_message(published: None) -> None:
    async with tabs.tab(SECRET) as page:
        await page.send({"text": GERMAN})
        await page.read_until("Diese Seite gibt es auch auf Deutsch.")


def test_the_page_tells_its_socket_its_language(published: None) -> None:
    html = html_of(Client(headers={"Accept-Language": "zh-CN"}).get("/"))
    assert re.search(r'ws-connect="/ws/chat/\?have=[0-9a-f]+&language=zh-hans"', html)


def test_programs_are_answered_in_the_language_that_they_accept(published: None) -> None:
    client = Client(headers={"Accept-Language": "de"})
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "fr"
    session = client.post("/api/v1/sessions/", content_type="application/json").json()
    headers = {"Authorization": f"Bearer {session['token']}"}
    problem = client.post(
        f"/api/v1/sessions/{session['id']}/turns/",
        {"text": " "},
        content_type="application/json",
        headers=headers,
    )
    assert (problem.status_code, problem["Content-Language"]) == (422, "de")
    assert problem.json()["detail"].startswith("In Ihrer Nachricht steht noch kein Text.")


def test_a_refusal_has_its_name_in_every_language(published: None) -> None:
    services.receive(session=SECRET, text=VISA, enqueue=False)
    html = html_of(
        browser_with(SECRET, headers={"Accept-Language": "es"}).post("/ask/", {"text": VISA})
    )
    assert "Todavía trabajamos en su última pregunta." in html
    assert STILL_WORKING not in html


def test_it_knows_page_languages_by_the_names_of_messages() -> None:
    for language in ("en", "fr", "de", "es", "zh", "ar", "fil"):
        hits = page_languages.find(language)
        assert hits is not None
        assert page_languages.iso_code(hits.code) == language
    assert page_languages.find("tl") == page_languages.find("fil")
    assert page_languages.find("pl") is None

"""Coming back: the private link, and what is new since the last visit."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import segno
from channels.db import database_sync_to_async
from django.test import Client

from conversations import returning, selectors
from conversations.chat import cookies
from conversations.models import Reply, Session, Turn
from conversations.turns import resuming, running, services
from ieim.people.models import User
from ieim.pipeline.reply import reply as replies
from review import talking as desk_talk
from tests.conversations.chat.tabs import tab
from tests.conversations.person.asking import item_of, taken_over, wants
from tests.conversations.test_rating import HTMX, browser_with
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk
from tests.studio.recall.recalling import correct


@pytest.fixture
def secret(ask: Ask) -> str:
    secret = services.new_secret()
    ask(secret=secret)
    return secret


def test_the_page_draws_it_and_has_it_in_words(secret: str) -> None:
    page = browser_with(secret).get("/private-link/").content.decode()
    address = f"http://testserver/c/{secret}/"
    drawn = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert drawn
    assert drawn[0] == returning.qr_code(address)
    assert f">{address}</a>" in page
    assert 'role="img" aria-label="QR code with your private link' in page
    # Our policy lets no style stand in a page.
    assert "style=" not in drawn[0]


def test_the_picture_is_that_address(secret: str) -> None:
    address = f"https://ask.example.org/c/{secret}/"
    # The modules that a reader sees: those of the standard's own encoding of this address.
    lines = segno.make(address, error="m").matrix
    drawn = returning.qr_code(address).partition("stroke")[2]
    runs = re.findall(r"h(\d+)", drawn)
    assert sum(map(int, runs)) == sum(map(sum, lines))


def test_nothing_keeps_the_page(secret: str) -> None:
    response = browser_with(secret).get("/private-link/")
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert secret not in response.request["PATH_INFO"]


def test_without_a_conversation_there_is_none(published: None) -> None:
    for browser in (Client(), browser_with("nobody")):
        response = browser.get("/private-link/")
        assert (response.status_code, response["Location"]) == (302, "/")


def test_it_only_reads(secret: str) -> None:
    assert browser_with(secret).post("/private-link/").status_code == 405


def test_the_address_itself_is_told_to_nobody_as_a_referer(secret: str) -> None:
    response = Client().get(f"/c/{secret}/")
    assert response.headers["Referrer-Policy"] == "strict-origin"
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/", "/private-link/"])
def test_an_e_mail_takes_it_along(secret: str, path: str) -> None:
    page = browser_with(secret).get(path).content.decode()
    match = re.search(r'href="(mailto:\?[^"]+)"', page)
    assert match
    mail = urlsplit(unescape(match[1]))
    assert (mail.scheme, mail.path) == ("mailto", "")
    assert "+" not in mail.query
    query = parse_qs(mail.query, strict_parsing=True)
    assert re.fullmatch(r"My questions, reference [A-Z0-9]{3}-[A-Z0-9]{4}", query["subject"][0])
    assert f"\r\n\r\nhttp://testserver/c/{secret}/\r\n\r\n" in query["body"][0]


def test_it_does_so_in_the_language_of_the_page(secret: str) -> None:
    browser = browser_with(secret, headers={"Accept-Language": "ar"})
    page = browser.get("/private-link/").content.decode()
    match = re.search(r'href="(mailto:\?[^"]+)"', page)
    assert match
    query = parse_qs(urlsplit(unescape(match[1])).query, strict_parsing=True)
    assert query["subject"][0].startswith("أسئلتي")
    assert "Everybody" not in query["body"][0]


def test_what_needs_a_script_is_a_button_with_all_it_needs(secret: str) -> None:
    page = browser_with(secret).get("/").content.decode()
    assert f'data-copy="http://testserver/c/{secret}/"' in page
    assert f'data-share="http://testserver/c/{secret}/"' in page
    assert '<p class="resume-ways__said" role="status"></p>' in page
    assert 'href="/private-link/"' in page


BAD = ["no json", "no json"]
SECRET = "a"
NEW = "New since you were here"
SAID = replies.render_guidance("Please write to us.")


@pytest.fixture
def waits(ask: Ask) -> Turn:
    with scripted_model({"agency_detect_v1": BAD}) as (model, _):
        return ask(secret=SECRET, model=model)


def answer(turn: Turn) -> Reply:
    return resuming.answer(turn=Turn.objects.get(pk=turn.pk), reply=SAID, by="staff:eva")


def look(browser: Client, **options: Any) -> str:
    return browser.get("/", **options).content.decode()


def test_it_leads_who_comes_back_to_the_answer(waits: Turn) -> None:
    browser = browser_with(SECRET)
    assert NEW not in look(browser)
    answer(waits)
    page = look(browser)
    assert 'href="#new">1 new answer since you were here: go to it</a>' in page
    assert page.count('id="new"') == 1
    assert page.index("1 new answer") < page.index(f'id="turn-{waits.pk}"')
    assert page.index(VISA) < page.index(NEW) < page.index("Please write to us.")
    assert NEW not in look(browser)


def test_it_counts_and_leads_to_the_first(ask: Ask, waits: Turn) -> None:
    with scripted_model({"agency_detect_v1": BAD}) as (model, _):
        later = ask("I lost my passport. How do I get a new one?", secret=SECRET, model=model)
    browser = browser_with(SECRET)
    look(browser)
    answer(later)
    answer(waits)
    page = look(browser)
    assert "2 new answers since you were here: go to the first" in page
    assert page.count(NEW) == 1
    assert page.index(f'id="turn-{waits.pk}"') < page.index(NEW) < page.index(f'"turn-{later.pk}"')


def test_so_it_does_with_what_a_person_writes_and_with_a_correction(ask: Ask) -> None:
    turn = ask(secret=SECRET)
    eva = desk.person("eva")
    request = wants(SECRET)
    browser = browser_with(SECRET)
    look(browser)
    taken_over(request, eva)
    # That somebody has joined is no answer.
    assert NEW not in look(browser)
    desk_talk.say(item_id=item_of(request).pk, actor=eva, text="Hello, how can I help?")
    page = look(browser)
    assert page.index(NEW) < page.index("Hello, how can I help?")
    correct(turn, User.objects.get(username="eva"))
    page = look(browser)
    assert page.index("Why this answer") < page.index(NEW) < page.index("has been corrected")


def test_a_first_visit_has_nothing_new(ask: Ask) -> None:
    ask(secret=SECRET)
    assert NEW not in look(browser_with(SECRET))


def test_who_waits_here_without_scripts_was_not_away(published: None) -> None:
    browser = Client()
    browser.get("/")
    browser.post("/ask/", {"text": VISA})
    look(browser)
    running.run_turn(turn_id=Turn.objects.get().pk)
    assert NEW not in browser.get("/?look=1").content.decode()
    assert NEW not in look(browser)


def test_an_open_page_keeps_what_is_new(waits: Turn) -> None:
    browser = browser_with(SECRET)
    look(browser)
    answer(waits)
    page = look(browser)
    match = re.search(r'data-visit="([^"]+)"', page)
    assert match
    query = match[1].replace("&amp;", "&")
    before = browser.cookies[returning.SEEN_COOKIE].value
    again = browser.get(f"/?{query}", headers=HTMX)
    assert NEW in again.content.decode()
    assert returning.SEEN_COOKIE not in again.cookies
    assert browser.cookies[returning.SEEN_COOKIE].value == before


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_the_socket_keeps_it_too(ask: Ask) -> None:
    secret = await database_sync_to_async(_answered)(ask)
    chat = await database_sync_to_async(selectors.chat_view)(secret=secret)
    until = chat.latest
    async with tab(secret, have="an older state", query=f"&since=0&until={until}") as page:
        await page.read_until('id="live"')
        assert NEW in page.parts["live"]
    # Nothing that comes while the page is open is "since you were here".
    async with tab(secret, have="x", query=f"&since=0&until={until - 1}") as page:
        await page.read_until('id="live"')
        assert NEW not in page.parts["live"]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_the_socket_sends_nothing_again_to_who_came_back(ask: Ask) -> None:
    secret = await database_sync_to_async(_answered)(ask)
    address = await database_sync_to_async(_socket_of)(secret)
    have = re.search(r"have=(\w+)", address)
    assert have
    query = address.partition("language=")[2].partition("&")[2]
    assert query.startswith("since=")
    async with tab(secret, have=have[1], language="en-gb", query=f"&{query}") as page:
        assert await page.socket.receive_nothing()


def _answered(ask: Ask) -> str:
    secret = services.new_secret()
    ask(secret=secret)
    return secret


def _socket_of(secret: str) -> str:
    browser = browser_with(secret)
    browser.cookies[returning.SEEN_COOKIE] = f"{Session.objects.get().reference}.0"
    match = re.search(r'ws-connect="([^"]+)"', look(browser))
    assert match
    return match[1].replace("&amp;", "&")


OTHERS = ("", "x", "{ref}", "{ref}.", "{ref}.-1", "{ref}.1e3", "{ref}.1.1")
# As a header has them: the newest releases of Python read a control character, and write none.
QUOTED = (r'"{ref}.\303\251"', r'"\000.1"')


@pytest.mark.parametrize("value", [*OTHERS, *QUOTED, "AAA-AAAA.0", "{ref}." + "9" * 40])
def test_a_cookie_that_says_nothing_of_this_conversation_is_none(waits: Turn, value: str) -> None:
    answer(waits)
    browser = browser_with(SECRET)
    cookie = f"{returning.SEEN_COOKIE}={value}".replace("{ref}", waits.session.reference)
    (visit,) = browser.cookies.values()
    response = browser.get("/", headers={"Cookie": f"{visit.key}={visit.coded_value}; {cookie}"})
    assert response.status_code == 200
    page = response.content.decode()
    assert waits.session.reference in page
    assert NEW not in page


@pytest.mark.parametrize("query", ["since=1", "since=x&until=2", "since=1&until=" + "9" * 30])
def test_so_is_an_address(waits: Turn, query: str) -> None:
    answer(waits)
    response = browser_with(SECRET).get(f"/?{query}", headers=HTMX)
    assert response.status_code == 200
    assert NEW not in response.content.decode()


def test_the_cookie_holds_a_reference_and_a_moment_that_scripts_may_move(waits: Turn) -> None:
    answer(waits)
    cookie = browser_with(SECRET).get("/").cookies[returning.SEEN_COOKIE]
    moment = returning.moment(Reply.objects.get().created_at)
    assert cookie.value == f"{waits.session.reference}.{moment}"
    assert not cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert int(cookie["max-age"]) == cookies.MAX_AGE_DAYS * 24 * 3600


def test_nobody_gets_it_before_the_first_question(published: None) -> None:
    assert returning.SEEN_COOKIE not in Client().get("/").cookies


@pytest.mark.parametrize("address", ["/start-again/", "/delete/"])
def test_it_goes_with_the_conversation(waits: Turn, address: str) -> None:
    browser = browser_with(SECRET)
    look(browser)
    assert browser.post(address).cookies[returning.SEEN_COOKIE].value == ""

"""The private link in other forms: a picture, an e-mail; and that nobody else learns of it."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import segno
from django.test import Client

from conversations import returning
from conversations.turns import services
from tests.conversations.test_rating import browser_with
from tests.fixtures import Ask


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
    found = re.search(r'href="(mailto:[^"]+)"', page)
    assert found
    mail = urlsplit(unescape(found[1]))
    assert (mail.scheme, mail.path) == ("mailto", "")
    assert "+" not in mail.query
    said = parse_qs(mail.query, strict_parsing=True)
    assert re.fullmatch(r"My questions, reference [A-Z0-9]{3}-[A-Z0-9]{4}", said["subject"][0])
    assert f"\r\n\r\nhttp://testserver/c/{secret}/\r\n\r\n" in said["body"][0]


def test_it_does_so_in_the_language_of_the_page(secret: str) -> None:
    browser = browser_with(secret, headers={"Accept-Language": "ar"})
    page = browser.get("/private-link/").content.decode()
    found = re.search(r'href="(mailto:[^"]+)"', page)
    assert found
    said = parse_qs(urlsplit(unescape(found[1])).query, strict_parsing=True)
    assert said["subject"][0].startswith("أسئلتي")
    assert "Everybody" not in said["body"][0]


def test_what_needs_a_script_is_a_button_with_all_it_needs(secret: str) -> None:
    page = browser_with(secret).get("/").content.decode()
    assert f'data-copy="http://testserver/c/{secret}/"' in page
    assert f'data-share="http://testserver/c/{secret}/"' in page
    assert '<p class="resume-ways__said" role="status"></p>' in page
    assert 'href="/private-link/"' in page

"""The citizen's pages in a frame: who may frame what, and what is carried."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.test import Client

from conversations import framing
from conversations.models import Session, Turn
from ieim.people.models import User
from ieim.people.roles import Role
from tests.administration.setting import put
from tests.conversations.framing.framing import SITE, allow, form, framed, without_cookies
from tests.fixtures import VISA
from tests.review.matrix import NAMES
from tests.review.people import browser, person
from tests.review.world import Variant, World
from tests.selection import sample

OTHER = "https://office.example.net:8443"
IN_FRAMES = {
    *(
        "chat",
        "ask",
        "rate",
        "tick",
        "choose",
        "something_else",
        "safe",
        "start_again",
        "delete",
        "language",
        "export",
        "export_json",
    ),
    *("help", "accessibility", "privacy", "person", "person_withdraw"),
    *("private_link", "mail", "mail_stop"),
}
"""The citizen's pages: written by hand, beside what the addresses say."""


def ancestors(response: Any) -> str:
    policy = response.headers.get("Content-Security-Policy", "")
    match = re.search(r"frame-ancestors ([^;]*)", policy)
    # What is no page of ours has none: the schema of a document, a picture with its own policy.
    return match[1] if match else "'none'"


@pytest.mark.parametrize("somebody", ["nobody", "superuser"])
@pytest.mark.parametrize("names", sample([sorted(NAMES)[::10], sorted(NAMES)]), ids=len)
def test_only_the_citizens_pages_below_embed_may_be_framed(
    published: None, somebody: str, names: list[str]
) -> None:
    allow(SITE, OTHER)
    root = User.objects.create_superuser("root")
    world, wrong = World(Variant.OWN), []
    for name in names:
        path = world.address(name, NAMES[name], root)
        space, _, page = name.rpartition(":")
        may = space == "conversations" and page in IN_FRAMES
        for where, allowed in ((path, False), (f"/embed{path}", may)):
            client = browser(root) if somebody == "superuser" else Client()
            served = client.get(where)
            values = (ancestors(served), served.headers.get("X-Frame-Options"))
            if values != ((f"{SITE} {OTHER}", None) if allowed else ("'none'", "DENY")):
                wrong.append(f"{where}: {served.status_code} {values}")
    assert not wrong, "\n".join(wrong)
    assert {n for n in NAMES if n.startswith("conversations:")} == {
        *(f"conversations:{frame}" for frame in IN_FRAMES),
        *(f"conversations:{entry}" for entry in ("resume", "offline", "worker")),
        *(f"conversations:{entry}" for entry in ("mail_link", "mail_link_stop")),
    }


def test_nobody_may_frame_anything_until_a_site_is_named(published: None) -> None:
    for path in ("/embed/", "/embed/help/"):
        response = Client().get(path)
        assert (ancestors(response), response["X-Frame-Options"]) == ("'none'", "DENY")


@pytest.mark.parametrize(
    "path",
    [
        *("/embed/staff/login/", "/embed/review/", "/embed/settings/", "/embed/admin/"),
        *("/embed/api/v1/sessions/", "/embed/embed/", "/embed/c/x/", "/embed/~", "/embed/~x"),
        *("/embed//staff/login/", "/embed/%2e%2e/staff/login/", "/embed/nothing/"),
    ],
)
def test_nothing_else_is_below_embed(published: None, path: str) -> None:
    allow(SITE)
    ada = browser(person("ada", Role.ADMINISTRATOR))
    response = ada.get(path)
    assert response.status_code == 404
    assert response["X-Frame-Options"] == "DENY"


def test_a_page_in_a_frame_sees_no_cookie_of_a_page_by_itself(published: None) -> None:
    allow(SITE)
    ada = browser(person("ada", Role.ADMINISTRATOR))
    ada.post("/ask/", {"text": VISA})
    session = Session.objects.get()
    html = ada.get("/embed/").content.decode()
    assert session.reference not in html
    assert 'data-home="/embed/"' in html
    assert session.reference in ada.get("/").content.decode()


def test_its_cookie_is_for_frames_alone(published: None) -> None:
    allow(SITE)
    response = framed().get("/embed/")
    assert list(response.cookies) == [framing.COOKIE]
    result = response.cookies.output(header="")
    for flag in ("Path=/embed/", "SameSite=None", "Secure", "HttpOnly", "Partitioned"):
        assert re.search(rf"; {flag}(;|$)", result), flag
    for cookie in Client().get("/").cookies.values():
        assert cookie["samesite"] == "Lax"
        assert "Partitioned" not in cookie.OutputString()


def test_it_asks_and_comes_back_in_the_frame(published: None) -> None:
    allow(SITE)
    client = framed()
    page = client.get("/embed/").content.decode()
    assert 'action="/embed/ask/"' in page
    assert 'ws-connect="/embed/ws/chat/?' in page
    response = client.post("/embed/ask/", {**form(page), "text": VISA})
    turn = Turn.objects.get()
    assert (response.status_code, response["Location"]) == (303, f"/embed/#turn-{turn.pk}")
    page = client.get("/embed/").content.decode()
    assert turn.session.reference in page
    assert "data-is_without_cookie" not in page
    link = re.search(r'resume__link"[^>]* href="([^"]*)"', page)
    assert link
    assert link[1].startswith("/c/")
    again = client.post("/embed/start-again/", form(page))
    assert again["Location"] == "/embed/"
    assert turn.session.reference not in client.get("/embed/").content.decode()


def test_the_check_of_forms_holds_in_a_frame(published: None) -> None:
    allow(SITE)
    client = framed()
    token = form(client.get("/embed/").content.decode())
    sent = {**token, "text": VISA}
    for origin in (SITE, "null"):
        refused = client.post("/embed/ask/", sent, headers={"Origin": origin})
        assert refused.status_code == 403
    assert client.post("/embed/ask/", {"text": VISA}).status_code == 403
    # Neither the token of another frame, nor that of a page by itself.
    other = form(framed().get("/embed/").content.decode())
    form_data = form(client.get("/").content.decode())
    for wrong in (other, form_data):
        assert client.post("/embed/ask/", {**wrong, "text": VISA}).status_code == 403
    assert not Turn.objects.exists()
    own_origin = {"Origin": "http://testserver"}
    assert client.post("/embed/ask/", sent, headers=own_origin).status_code == 303


def test_the_frame_opens_in_the_language_of_the_page_around(published: None) -> None:
    allow(SITE)
    client = framed()
    arabic = client.get("/embed/?language=ar")
    page = arabic.content.decode()
    assert '<html class="govuk-template" lang="ar" dir="rtl">' in page
    assert client.get("/embed/help/")["Content-Language"] == "ar"
    chosen = {**form(page), "language": "fr", "next": "/embed/?language=ar"}
    assert client.post("/embed/language/", chosen).status_code == 302
    # What somebody has chosen stays, whatever the page around is in.
    assert client.get("/embed/?language=ar")["Content-Language"] == "fr"
    assert client.get("/")["Content-Language"] == "en-gb"
    assert framed().get("/embed/?language=tlh")["Content-Language"] == "en-gb"


OURS = {"Sec-Fetch-Site": "same-origin"}
THEIRS = {"Sec-Fetch-Site": "cross-site"}


def test_without_any_cookie_the_conversation_is_in_the_address(published: None) -> None:
    allow(SITE)
    prefix = without_cookies(framed().get("/embed/", headers=THEIRS).content.decode())
    client = framed()  # which has never heard of a cookie
    page = client.get(prefix, headers=OURS)
    html = page.content.decode()
    assert not page.cookies
    assert f'ws-connect="{prefix}ws/chat/?' in html
    response = client.post(f"{prefix}ask/", {**form(html), "text": VISA}, headers=OURS)
    turn = Turn.objects.get()
    assert response["Location"] == f"{prefix}#turn-{turn.pk}"
    assert turn.session.reference in client.get(prefix, headers=OURS).content.decode()
    chosen = {**form(html), "language": "fr", "next": f"{prefix}help/"}
    location = client.post(f"{prefix}language/", chosen, headers=OURS)["Location"]
    assert location != f"{prefix}help/"
    french = client.get(location, headers=OURS).content.decode()
    assert 'lang="fr"' in french
    new_location = client.post(f"{prefix}start-again/", form(html), headers=OURS)["Location"]
    assert turn.session.reference not in client.get(new_location, headers=OURS).content.decode()
    assert not client.cookies


def test_without_any_cookie_what_was_deleted_is_gone(published: None) -> None:
    allow(SITE)
    prefix = without_cookies(framed().get("/embed/", headers=THEIRS).content.decode())
    client = framed()
    token = form(client.get(prefix, headers=OURS).content.decode())
    client.post(f"{prefix}ask/", {**token, "text": VISA}, headers=OURS)
    reference = Session.objects.get().reference
    assert client.post(f"{prefix}delete/", token, headers=OURS).status_code == 200
    assert reference not in client.get(prefix, headers=OURS).content.decode()
    response = client.post(f"{prefix}ask/", {**token, "text": VISA}, headers=OURS)
    assert response.status_code == 303
    assert Session.objects.count() == 2


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
def test_only_our_own_pages_lead_to_such_an_address(published: None, site: str) -> None:
    allow(SITE)
    prefix = without_cookies(framed().get("/embed/", headers=THEIRS).content.decode())
    headers = {"Sec-Fetch-Site": site} if site else {}
    response = framed().get(prefix, headers=headers)
    assert (response.status_code, response["Location"]) == (302, "/embed/")


def test_a_browser_that_does_not_say_who_leads_is_offered_no_such_address(published: None) -> None:
    allow(SITE)
    html = framed().get("/embed/").content.decode()
    assert without_cookies(html) == ""
    assert 'id="frame-refused"' in html


@pytest.mark.parametrize("token", ["x", "a:b:c", "%00", "%ED%A0%80", "é", "x" * 4000])
def test_an_address_that_we_have_not_made_begins_anew(published: None, token: str) -> None:
    allow(SITE)
    response = framed().get(f"/embed/~{token}/", headers=OURS)
    assert response.status_code in (302, 404)
    if response.status_code == 302:
        assert response["Location"] == "/embed/?fresh=1"
    broken = framed()
    broken.cookies = SimpleCookie({framing.COOKIE: token})
    assert broken.get("/embed/").status_code == 200


def test_what_pages_fetch_comes_in_frames_too(published: None) -> None:
    allow(SITE)
    put("colours", brand="#1f4e8c")
    html = framed().get("/embed/").content.decode()
    sheet = re.search(r'href="(/embed/own/colours\.css[^"]*)"', html)
    assert sheet
    response = framed().get(sheet[1])
    assert "#1f4e8c" in response.content.decode()
    assert not response.cookies

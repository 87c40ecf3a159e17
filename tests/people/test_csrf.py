"""Forms that were opened before another tab logged in or out: nobody loses what they wrote."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from ieim.people.roles import Role
from tests.people.test_factors import RIGHT, member

pytestmark = pytest.mark.django_db
SITE = {"Origin": "http://testserver"}


@pytest.fixture
def tabs() -> Client:
    """A browser that sends what browsers send, for a person with a password."""
    member("ada", Role.EDITOR)
    return Client(enforce_csrf_checks=True, headers=SITE)


def token_of(page: Any) -> str:
    match = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.content.decode())
    assert match
    return match[1]


def log_in(browser: Client, token: str, to: str = "") -> Any:
    form = {"username": "ada", "password": RIGHT, "next": to, "csrfmiddlewaretoken": token}
    return browser.post("/staff/login/", form)


def test_a_second_login_leads_on(tabs: Client) -> None:
    first, second, third = (token_of(tabs.get("/staff/login/")) for _ in range(3))
    assert log_in(tabs, first).status_code == 302
    for token, to, led in (
        (second, "/knowledge/", "/knowledge/"),
        (third, "https://evil.example/", "/staff/"),
    ):
        answer = log_in(tabs, token, to)
        assert (answer.status_code, answer["Location"]) == (303, led)


def test_a_login_of_a_page_from_before_is_asked_anew(tabs: Client) -> None:
    stale = token_of(tabs.get("/staff/login/?next=/knowledge/"))
    log_in(tabs, stale)
    current = token_of(tabs.get("/knowledge/"))
    tabs.post("/staff/logout/", {"csrfmiddlewaretoken": current})
    form = {"username": "ada", "password": RIGHT, "csrfmiddlewaretoken": stale}
    answer = tabs.post("/staff/login/?next=/knowledge/", form)
    assert (answer.status_code, answer["Location"]) == (303, "/staff/login/?next=/knowledge/")


def test_a_logout_of_a_page_from_before(tabs: Client) -> None:
    stale = token_of(tabs.get("/staff/login/"))
    log_in(tabs, stale)
    response = tabs.post("/staff/logout/", {"csrfmiddlewaretoken": stale})
    assert response.status_code == 403
    assert "Send it once more" in response.content.decode()
    tabs.post("/staff/logout/", {"csrfmiddlewaretoken": token_of(response)})
    answer = tabs.post("/staff/logout/", {"csrfmiddlewaretoken": stale})
    assert (answer.status_code, answer["Location"]) == (303, "/staff/login/")


def test_what_was_written_is_sent_once_more(tabs: Client) -> None:
    stale = token_of(tabs.get("/staff/login/"))
    log_in(tabs, stale)
    words = 'Closed <on> Friday & Saturday, say "hello".'
    form = {"question": words, "ticked": ["a", "b"], "csrfmiddlewaretoken": stale}
    refused = tabs.post("/knowledge/try/questions/add/?x=1", form)
    html = refused.content.decode()
    assert refused.status_code == 403
    assert 'action="/knowledge/try/questions/add/?x=1"' in html
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', html)
    sent = [(name, unescape(value)) for name, value in fields if not name.startswith("csrf")]
    assert sent == [("question", words), ("ticked", "a"), ("ticked", "b")]
    again = {"question": words, "csrfmiddlewaretoken": token_of(refused)}
    assert tabs.post("/knowledge/try/questions/add/?x=1", again).status_code != 403


@pytest.mark.parametrize(
    ("headers", "form"),
    [
        ({"Origin": "https://evil.example"}, {"question": "x" * 30}),
        ({"Origin": ""}, {"question": "x" * 30}),
        (SITE, {"old_password": "my secret, too long to miss"}),
    ],
    ids=["another site", "of nobody knows where", "a password"],
)
def test_what_is_not_given_back(tabs: Client, headers: Any, form: Any) -> None:
    log_in(tabs, token_of(tabs.get("/staff/login/")))
    refused = tabs.post("/staff/sessions/", form, headers=headers)
    html = refused.content.decode()
    assert refused.status_code == 403
    assert "not sent" in html
    assert not any(value in html for value in form.values())


def test_a_form_of_staff_without_any_cookie_leads_to_the_login(tabs: Client) -> None:
    log_in(tabs, token_of(tabs.get("/staff/login/")))
    page = "/knowledge/notices/add/"
    form = {"text": "x", "csrfmiddlewaretoken": token_of(tabs.get(page))}
    tabs.cookies.clear()
    answer = tabs.post(page, form, HTTP_REFERER=f"http://testserver{page}")
    assert (answer.status_code, answer["Location"]) == (302, f"/staff/login/?next={page}")
    citizen = tabs.post("/", {"message": "x"})
    assert citizen.status_code == 403
    assert "Your form was not sent" in citizen.content.decode()


def test_staff_keep_their_navigation_on_pages_that_are_not_theirs(tabs: Client) -> None:
    log_in(tabs, token_of(tabs.get("/staff/login/")))
    for address, status in (("/review/", 403), ("/knowledge/nothing/", 404)):
        answer = tabs.get(address)
        html = answer.content.decode()
        assert answer.status_code == status
        assert 'class="staff-nav"' in html
        assert "talk to a person" not in html
    tabs.cookies.clear()
    assert 'class="staff-nav"' not in tabs.get("/nothing/").content.decode()


def test_who_logs_out_leaves_nothing_in_the_browser(tabs: Client) -> None:
    log_in(tabs, token_of(tabs.get("/staff/login/")))
    token = token_of(tabs.get("/knowledge/"))
    left = tabs.post("/staff/logout/", {"csrfmiddlewaretoken": token})
    assert left["Clear-Site-Data"] == '"cache", "storage"'

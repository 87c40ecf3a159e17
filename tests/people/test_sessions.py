"""Sessions of staff end by themselves, and when their owner or an administrator says so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from ieim.people import reauthentication
from ieim.people.roles import Role
from tests.people.pages import page_of
from tests.people.test_factors import log_in, member
from tests.people.test_who_changes_whom import events

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


class Clock:
    """The time, which a test lets pass."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = timezone.now()
        monkeypatch.setattr(timezone, "now", lambda: self.now)

    def passes(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture(autouse=True)
def _ada(db: None) -> None:
    member("ada")


def is_in(browser: Client) -> bool:
    return browser.get("/review/").status_code == 200


def ended() -> list[Any]:
    return [(actor, result["why"]) for _, actor, result in events("session")]


def test_one_that_nobody_uses_ends(clock: Clock) -> None:
    browser, _ = log_in("ada")
    for _ in range(2):
        clock.passes(minutes=59)
        assert is_in(browser)
    clock.passes(minutes=60)
    assert not is_in(browser)
    assert ended() == [("system", "idle")]


@pytest.mark.parametrize("path", ["/review/changes/", "/review/board/", "/review/board/alerts/"])
def test_a_page_that_is_open_does_not_use_it(clock: Clock, path: str) -> None:
    browser, _ = log_in("ada")
    headers = {} if path.endswith("alerts/") else HTMX
    for _ in range(6):
        clock.passes(minutes=9.9)
        news = browser.get(path, headers=headers)
        assert news.status_code == 200
        assert "HX-Redirect" not in news.headers
    clock.passes(minutes=1)
    assert "/staff/login/" in browser.get(path, headers=HTMX)["HX-Redirect"]


def test_one_that_is_used_all_day_ends_too(clock: Clock) -> None:
    browser, _ = log_in("ada")
    session = browser.session
    session[reauthentication.BEGAN] -= 11 * 3600
    session.save()
    clock.passes(minutes=59)
    assert is_in(browser)
    clock.passes(minutes=1)
    assert browser.get("/api/v1/review/items/").status_code in (401, 403)
    assert not is_in(browser)


def test_one_ends_their_own(clock: Clock) -> None:
    here, result, third = (log_in("ada")[0] for _ in range(3))
    page = here.get("/staff/sessions/").content.decode()
    assert page.count("End it") == 2
    assert page.count("This one") == 1
    row = UserSession.objects.get(session_key=result.session.session_key)
    here.post("/staff/sessions/", {"end": row.pk})
    # Within the four seconds in which an open page asks for news.
    assert "/staff/login/" in result.get("/review/changes/", headers=HTMX)["HX-Redirect"]
    assert is_in(third)
    here.post("/staff/sessions/", {"end": "others"})
    assert not is_in(third)
    assert is_in(here)
    assert ended() == [("staff:ada", "revoked")] * 2


def test_who_reads_the_database_takes_over_nobody() -> None:
    browser, _ = log_in("ada")
    key = browser.cookies[settings.SESSION_COOKIE_NAME].value
    stored = {*Session.objects.values_list("session_key", flat=True)}
    stored |= {*UserSession.objects.values_list("session_key", flat=True)}
    assert len(stored) == 1
    assert key not in stored
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = stored.pop()
    assert not is_in(thief)
    assert is_in(browser)
    assert log_in("ada")[1].status_code == 302
    assert UserSession.objects.count() == 2, "a login forgets no other one"
    browser.post("/staff/logout/")
    assert Session.objects.count() == 1
    assert not is_in(browser)


@pytest.mark.parametrize("which", ["", "x", "²", "9" * 30])
def test_nonsense_ends_nothing(which: str) -> None:
    here, result = log_in("ada")[0], log_in("ada")[0]
    assert here.post("/staff/sessions/", {"end": which}).status_code == 302
    assert is_in(result)


def test_nobody_ends_those_of_others() -> None:
    member("eve")
    theirs, mine = log_in("ada")[0], log_in("eve")[0]
    mine.post("/staff/sessions/", {"end": UserSession.objects.get(user__username="ada").pk})
    assert is_in(theirs)
    assert "End it" not in mine.get("/staff/sessions/").content.decode()


@pytest.mark.parametrize(("role", "may"), [(Role.SUPERVISOR, True), (Role.ADMINISTRATOR, False)])
def test_an_administrator_ends_those_whom_they_look_after(role: Role, may: bool) -> None:
    user = member("ben", role)
    member("boss", Role.ADMINISTRATOR)
    theirs, desk = log_in("ben")[0], log_in("boss")[0]
    assert desk.post(f"{page_of(user)}sessions/").status_code == (303 if may else 403)
    assert (theirs.get("/staff/sessions/").status_code == 302) is may
    assert ended() == ([("staff:boss", "revoked")] if may else [])

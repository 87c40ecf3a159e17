"""Second factors: set up, asked for, needed by a role, and kept so that the database alone opens
nothing."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import unquote

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.test import Client

from ieim.config.variables import STRONG_ROLES
from ieim.people import reauthentication
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.services import changing
from tests.people.openid_provider import Directory
from tests.people.pages import filled, page_of
from tests.people.test_who_changes_whom import events
from tests.review.people import person

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:authlib"),
]

RIGHT = "correct horse battery staple"


@pytest.fixture
def needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_MFA_ROLES", ["supervisor"])


def code(secret: str, *, later: int = 0) -> str:
    """What the app shows, ``later`` half minutes from now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + later)))


def member(name: str, role: Role = Role.SUPERVISOR) -> User:
    user = person(name, role, "passports")
    user.set_password(RIGHT)
    user.save()
    return user


def log_in(name: str) -> tuple[Client, Any]:
    browser = Client()
    form = {"username": name, "password": RIGHT, "next": "/review/"}
    return browser, browser.post("/staff/login/", form)


def set_up(browser: Client, callbacks: Any) -> str:
    """Set an app up through the pages; returns its secret."""
    page = browser.get("/staff/factors/totp/activate/", follow=True)
    if page.redirect_chain:
        assert page.redirect_chain[-1][0].startswith("/staff/factors/password/")
        form = {"password": RIGHT, "next": "/staff/factors/totp/activate/"}
        page = browser.post("/staff/factors/password/", form, follow=True)
    html = page.content.decode()
    assert "<svg" in html
    assert "data:" not in html
    match = re.search(r'id="authenticator_secret">(\w+)<', html)
    assert match, html
    with callbacks(execute=True):
        # The code of half a minute ago: so the present one is still unused.
        typed = {"code": code(match[1], later=-1)}
        done = browser.post("/staff/factors/totp/activate/", typed)
    assert (done.status_code, done["Location"]) == (302, "/staff/factors/recovery-codes/")
    return match[1]


def recovery_codes(browser: Client) -> list[str]:
    html = browser.get("/staff/factors/recovery-codes/").content.decode()
    return re.findall(r"\b\d{8}\b", html)


def test_who_has_one_is_asked_for_it(django_capture_on_commit_callbacks: Any) -> None:
    member("ada")
    browser, answer = log_in("ada")
    assert answer["Location"] == "/review/"
    secret = set_up(browser, django_capture_on_commit_callbacks)
    assert events("factor") == [
        ("people.factor_added", "staff:ada", {"factor": kind, **recorded(User.objects.get())})
        for kind in ("totp", "recovery_codes")
    ]
    browser, answer = log_in("ada")
    assert answer["Location"] == "/staff/factors/authenticate/"
    assert browser.get("/review/").status_code == 302, "a password alone opens nothing"
    assert "Two-Factor" in browser.get(answer["Location"]).content.decode()
    wrong = browser.post("/staff/factors/authenticate/", {"code": "000000"})
    assert wrong.status_code == 200
    assert events("factor")[-1][:2] == ("people.factor_failed", "system")
    right = browser.post("/staff/factors/authenticate/", {"code": code(secret)})
    assert (right.status_code, right["Location"]) == (302, "/review/")
    assert browser.get("/review/").status_code == 200
    again, _ = log_in("ada")
    used = again.post("/staff/factors/authenticate/", {"code": code(secret)})
    assert used.status_code == 200, "a code is good once"


@pytest.mark.parametrize("seconds", [0, 45])
def test_a_code_is_good_once_for_as_long_as_it_fits(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    member("ada")
    browser, _ = log_in("ada")
    secret = set_up(browser, django_capture_on_commit_callbacks)
    again, _ = log_in("ada")
    set_up_with = {"code": code(secret, later=-1)}
    assert again.post("/staff/factors/authenticate/", set_up_with).status_code == 200
    typed, now = {"code": code(secret, later=1)}, time.time
    assert log_in("ada")[0].post("/staff/factors/authenticate/", typed).status_code == 302
    monkeypatch.setattr(time, "time", lambda: now() + seconds)
    assert log_in("ada")[0].post("/staff/factors/authenticate/", typed).status_code == 200


def test_who_comes_from_the_provider_proves_it_there(
    directory: Directory,
) -> None:
    directory.person("lea", "heads")
    browser, page = Client(), "/staff/factors/totp/activate/"
    directory.enter(browser, "lea")
    assert browser.get(page).status_code == 200, "they have just come"
    session = browser.session
    session[reauthentication.BEGAN] -= 301
    session.save()
    led = browser.get(page)
    assert (led.status_code, led["Location"]) == (
        302,
        "/staff/login/openid/?next=%2Fstaff%2Ffactors%2Ftotp%2Factivate%2F",
    )
    assert "prompt=login" in browser.get(led["Location"])["Location"]
    assert directory.enter(browser, "lea", to=page)["Location"] == page
    assert browser.get(page).status_code == 200


@pytest.mark.parametrize("query", ["", "?from=list"])
def test_an_address_is_changed_by_who_proves_who_they_are(
    sent: list[EmailMessage],
    query: str,
) -> None:
    carl, _ = person("carl", Role.CASEWORKER), member("boss", Role.ADMINISTRATOR)
    User.objects.filter(pk=carl.pk).update(email="carl@example.org")
    desk, _ = log_in("boss")
    page = f"{page_of(carl)}{query}"
    led = desk.post(page, filled(desk, page, email="eve@example.org"))
    assert (led.status_code, User.objects.get(pk=carl.pk).email) == (302, "carl@example.org")
    address, _, back = led["Location"].partition("?next=")
    assert address == "/staff/factors/password/"
    wrong = desk.post(address, {"password": "a guess", "next": unquote(back)})
    assert (wrong.status_code, sent) == (200, [])
    desk.post(address, {"password": RIGHT, "next": unquote(back)})
    assert User.objects.get(pk=carl.pk).email == "eve@example.org", "the form was sent on"


def test_owners_are_told_at_the_old_address(
    sent: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    ada = member("ada")
    User.objects.filter(pk=ada.pk).update(email="ada@example.org")
    browser, _ = log_in("ada")
    set_up(browser, django_capture_on_commit_callbacks)
    assert {address for message in sent for address in message.to} == {"ada@example.org"}
    assert "your account ada has changed: the second factor" in str(sent[-1].body)
    new = "an even longer one 7"
    form = {"old_password": RIGHT, "new_password1": new, "new_password2": new}
    with django_capture_on_commit_callbacks(execute=True):
        browser.post("/admin/password_change/", form)
    assert "the password" in str(sent[-1].body)
    with django_capture_on_commit_callbacks(execute=True), changing(ada.pk, by=None):
        User.objects.filter(pk=ada.pk).update(email="eve@example.org")
    assert (sent[-1].to, "the e-mail address" in str(sent[-1].body)) == (["ada@example.org"], True)


def recorded(user: User) -> dict[str, Any]:
    return {"user": user.pk, "username": user.username}


def test_a_wrong_code_cannot_be_guessed_for_long(django_capture_on_commit_callbacks: Any) -> None:
    member("ada")
    browser, _ = log_in("ada")
    secret = set_up(browser, django_capture_on_commit_callbacks)
    browser, _ = log_in("ada")
    for number in range(6):
        browser.post("/staff/factors/authenticate/", {"code": f"00000{number}"})
    late = browser.post("/staff/factors/authenticate/", {"code": code(secret)})
    assert late.status_code == 200
    assert browser.get("/review/").status_code == 302


def test_a_recovery_code_opens_once(django_capture_on_commit_callbacks: Any) -> None:
    member("ada")
    browser, _ = log_in("ada")
    set_up(browser, django_capture_on_commit_callbacks)
    codes = recovery_codes(browser)
    assert len(codes) == 10
    assert recovery_codes(browser) == [], "they are shown once"
    for entry in (302, 200):
        browser, _ = log_in("ada")
        answer = browser.post("/staff/factors/authenticate/", {"code": codes[0]})
        assert answer.status_code == entry


@pytest.mark.usefixtures("needed")
def test_a_role_can_need_one(django_capture_on_commit_callbacks: Any) -> None:
    member("ada")
    member("ben", Role.CASEWORKER)
    browser, _ = log_in("ada")
    for path in ("/review/", "/staff/", "/admin/", "/review/metrics/"):
        led = browser.get(path)
        assert (led.status_code, led["Location"]) == (302, "/staff/factors/"), path
    assert browser.get("/api/v1/review/items/").status_code == 403
    part = browser.get("/review/", headers={"HX-Request": "true"})
    assert part["HX-Redirect"] == "/staff/factors/"
    assert "Your role needs a second factor" in browser.get("/staff/factors/").content.decode()
    assert browser.get("/").status_code == 200, "what is open to everybody is"
    set_up(browser, django_capture_on_commit_callbacks)
    assert browser.get("/review/").status_code == 200
    assert browser.get("/api/v1/review/items/").status_code == 200
    other, _ = log_in("ben")
    assert other.get("/review/").status_code == 200


@pytest.mark.usefixtures("needed")
def test_superusers_need_one_as_soon_as_a_role_does() -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    assert browser.get("/admin/")["Location"] == "/staff/factors/"


def test_the_first_account_of_an_installation_sets_one_up_and_is_in(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "IEIM_MFA_ROLES", STRONG_ROLES)
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", RIGHT)
    fields = {"username": "root", "email": "root@example.org"}
    call_command("createsuperuser", interactive=False, **fields)
    browser, _ = log_in("root")
    assert browser.get("/admin/")["Location"] == "/staff/factors/"
    set_up(browser, django_capture_on_commit_callbacks)
    assert len(recovery_codes(browser)) == 10
    assert browser.get("/admin/").status_code == 200


def test_the_database_alone_gives_no_code(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    member("ada")
    browser, _ = log_in("ada")
    secret = set_up(browser, django_capture_on_commit_callbacks)
    app = Authenticator.objects.get(type="totp")
    assert secret not in str(app.data)
    # With a new key it goes on while the old one is a fallback, and is then kept by the new one.
    old, before = settings.SECRET_KEY, app.data["secret"]
    monkeypatch.setattr(settings, "SECRET_KEY", "another key " * 5)
    monkeypatch.setattr(settings, "SECRET_KEY_FALLBACKS", [old])
    browser, _ = log_in("ada")
    answer = browser.post("/staff/factors/authenticate/", {"code": code(secret)})
    assert answer.status_code == 302
    app.refresh_from_db()
    assert app.data["secret"] != before
    monkeypatch.setattr(settings, "SECRET_KEY_FALLBACKS", [])
    browser, _ = log_in("ada")
    answer = browser.post("/staff/factors/authenticate/", {"code": code(secret, later=1)})
    assert answer.status_code == 302
    # Where no key fits any more, no code does.
    monkeypatch.setattr(settings, "SECRET_KEY", "a third key " * 5)
    browser, _ = log_in("ada")
    answer = browser.post("/staff/factors/authenticate/", {"code": code(secret, later=-1)})
    assert answer.status_code == 200


@pytest.mark.usefixtures("needed")
def test_the_providers_second_factor_counts(directory: Directory) -> None:
    for amr, result in ((["pwd", "mfa"], 200), (["pwd"], 302), ("mfa", 302)):
        directory.person("lea", "heads", amr=amr)
        browser = Client()
        assert directory.enter(browser, "lea")["Location"] == "/staff/"
        assert browser.get("/review/").status_code == result, amr


def test_who_has_one_is_asked_for_it_after_the_provider_too(
    directory: Directory,
    django_capture_on_commit_callbacks: Any,
) -> None:
    directory.person("mia", "desk")
    browser = Client()
    directory.enter(browser, "mia")
    secret = set_up(browser, django_capture_on_commit_callbacks)
    browser = Client()
    answer = directory.enter(browser, "mia", to="/review/")
    assert answer["Location"] == "/staff/factors/authenticate/"
    assert browser.get("/review/").status_code == 302
    answer = browser.post("/staff/factors/authenticate/", {"code": code(secret)})
    assert (answer.status_code, answer["Location"]) == (302, "/review/")


@pytest.mark.parametrize(("role", "taken"), [(Role.SUPERVISOR, True), (Role.ADMINISTRATOR, False)])
def test_who_has_lost_theirs_begins_anew(
    django_capture_on_commit_callbacks: Any, role: Role, taken: bool
) -> None:
    ada, _ = member("ada", role), member("boss", Role.ADMINISTRATOR)
    browser, _ = log_in("ada")
    set_up(browser, django_capture_on_commit_callbacks)
    desk, _ = log_in("boss")
    response = desk.post(f"{page_of(ada)}factors/")
    assert response.status_code == (302 if taken else 403)
    if taken:
        assert "an authenticator app" in desk.get(page_of(ada)).content.decode()
        form = {"password": RIGHT, "next": unquote(response["Location"].partition("?next=")[2])}
        page = desk.post("/staff/factors/password/", form, follow=True)
        assert "None is set up." in page.content.decode()
    fields = {"factor": "all", **recorded(ada)}
    assert (events("factor")[-1] == ("people.factor_removed", "staff:boss", fields)) is taken
    assert (log_in("ada")[1]["Location"] == "/review/") is taken

"""A forgotten password: a link by e-mail, once, and no sign of which accounts there are."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from celery import current_app
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from redis import ConnectionError as RedisIsAway

from ieim.audit.models import AuditEvent
from ieim.people import passwords
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.selectors import sole_giver
from tests.people.pages import page_of
from tests.people.test_factors import RIGHT, log_in, member
from tests.people.test_who_changes_whom import events
from tests.review.people import browser, person

pytestmark = pytest.mark.django_db

NEW = "an entirely new sentence"


@pytest.fixture(autouse=True)
def queued(sent: list[EmailMessage], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a worker was told of; ada's account is there."""
    monkeypatch.setattr(settings, "IEIM_PUBLIC_URL", "https://ask.example.org")
    ada = member("ada")
    ada.email = "Ada@example.org"
    ada.save()
    records: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda _name, args: records.extend(args))
    return records


def link(sent: list[EmailMessage]) -> str:
    passwords.send_links("ada@example.org")
    [message] = sent
    assert message.to == ["Ada@example.org"]
    assert message.subject == "ask.example.org: Set a password"
    match = re.search(r"https://ask\.example\.org(/\S+)", str(message.body))
    assert match
    return match[1]


def set_new(visitor: Client, path: str) -> Any:
    form = visitor.get(path)
    assert form.status_code == 302, "the link's secret is not in the address of the form"
    return visitor.post(form["Location"], {"new_password1": NEW, "new_password2": NEW})


def test_its_owner_sets_a_new_one(sent: list[EmailMessage]) -> None:
    open_elsewhere, _ = log_in("ada")
    visitor, path = Client(), link(sent)
    assert set_new(visitor, path)["Location"] == "/staff/login/"
    ada = User.objects.get(username="ada")
    assert ada.check_password(NEW)
    assert visitor.get("/review/").status_code == 302, "a link is no login"
    assert open_elsewhere.get("/review/").status_code == 302
    assert "holds no longer" in Client().get(path).content.decode()
    assert events("reset") == [
        ("people.reset_asked", "system", {"user": ada.pk, "username": "ada"})
    ]
    assert events("user")[-1][1:] == (
        "staff:ada",
        {"user": ada.pk, "username": "ada", "password": "changed"},
    )


def test_an_administrator_has_a_link_sent(sent: list[EmailMessage]) -> None:
    ada = User.objects.get(username="ada")
    desk = browser(person("root", Role.ADMINISTRATOR))
    page = desk.post(f"{page_of(ada)}link/", {"way": "mail"}, follow=True)
    assert "A link to choose a password went to Ada@example.org." in page.content.decode()
    [message] = sent
    assert "Root had it sent to you." in message.body
    assert events("password_link_sent")[-1][1] == "staff:root"
    assert User.objects.get(pk=ada.pk).has_usable_password(), "the old one holds until then"


def shown_link(desk: Client, user: User) -> str:
    page = desk.post(f"{page_of(user)}link/", {"way": "show"})
    match = re.search(r'value="https://ask\.example\.org(/staff/password/[^"]+)"', body(page))
    assert page.status_code == 201
    assert match
    return match[1]


def body(page: Any) -> str:
    text: str = page.content.decode()
    return text


def test_a_link_to_hand_over_is_shown_once_and_ends_what_was_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": ""})
    desk, ada = browser(person("root", Role.ADMINISTRATOR)), User.objects.get(username="ada")
    open_elsewhere, _ = log_in("ada")
    first = shown_link(desk, ada)
    assert open_elsewhere.get("/review/").status_code == 302
    assert not User.objects.get(pk=ada.pk).has_usable_password()
    second = shown_link(desk, ada)
    page = body(desk.get(page_of(ada)))
    assert "Invited" in page
    assert second not in page
    assert "holds no longer" in body(Client().get(first))
    assert set_new(Client(), second)["Location"] == "/staff/login/"
    assert User.objects.get(pk=ada.pk).check_password(NEW)
    assert "Ask an administrator" in body(Client().get(second))
    event = ("people.password_link_shown", "staff:root", {"user": ada.pk, "username": "ada"})
    assert events("password_link") == [event, event]
    assert sole_giver(ada, timezone.now()) == "staff:root", "whoever saw it could be ada"
    assert not AuditEvent.objects.filter(payload__contains=second).exists()


def test_it_ends_after_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, ada = browser(person("root", Role.ADMINISTRATOR)), User.objects.get(username="ada")
    path, now = shown_link(desk, ada), datetime.now()  # noqa: DTZ005  # as Django's generator has it
    for hours, message in ((23, "/set-password/"), (25, "holds no longer")):
        later = now + timedelta(hours=hours)
        monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda _, at=later: at)
        page = Client().get(path)
        assert message in page.headers.get("Location", "") + body(page)


def test_nobody_is_shown_a_link_for_an_account_above_theirs_or_one_that_is_off() -> None:
    root, boss = person("root", Role.ADMINISTRATOR), person("boss", Role.ADMINISTRATOR)
    desk, ada = browser(root), User.objects.get(username="ada")
    assert desk.post(f"{page_of(boss)}link/", {"way": "show"}).status_code == 403
    User.objects.filter(pk=ada.pk).update(is_active=False)
    for way in ("show", "mail"):
        page = desk.post(f"{page_of(ada)}link/", {"way": way})
        assert page.status_code == 303
    assert not events("password_link")


def test_whoever_is_shown_a_link_proves_who_they_are() -> None:
    ada, _ = User.objects.get(username="ada"), member("boss", Role.ADMINISTRATOR)
    desk, _ = log_in("boss")
    page = desk.post(f"{page_of(ada)}link/", {"way": "show"})
    assert page["Location"].startswith("/staff/factors/password/")
    assert not events("password_link")
    form = {"password": RIGHT, "next": unquote(page["Location"].partition("?next=")[2])}
    assert "The link for" in body(desk.post("/staff/factors/password/", form, follow=True))


def test_the_page_says_the_same_of_every_address(client: Client, queued: list[str]) -> None:
    assert "Forgotten your password?" in client.get("/staff/login/").content.decode()
    for address in ("ada@example.org", "nobody@example.org"):
        answer = client.post("/staff/password/", {"email": address}, follow=True)
        assert answer.redirect_chain == [("/staff/password/sent/", 302)]
    assert queued == ["ada@example.org", "nobody@example.org"]
    assert "Enter a valid email" in client.post("/staff/password/", {"email": "x"}).content.decode()


def test_nobody_fills_a_mailbox(client: Client, queued: list[str]) -> None:
    for _ in range(9):
        client.post("/staff/password/", {"email": "ada@example.org"})
    assert len(queued) == 3


def test_who_comes_from_the_provider_gets_none(sent: list[EmailMessage]) -> None:
    ada = User.objects.get(username="ada")
    ada.set_unusable_password()
    ada.save()
    passwords.send_links("ada@example.org")
    passwords.send_links("nobody@example.org")
    assert sent == []


@pytest.mark.parametrize(
    ("setting", "value"), [("IEIM_PASSWORDS", False), ("IEIM_MAIL", {"HOST": ""})]
)
def test_where_there_is_nothing_to_reset_there_is_no_page(
    client: Client, monkeypatch: pytest.MonkeyPatch, setting: str, value: Any
) -> None:
    monkeypatch.setattr(settings, setting, value)
    for path in ("", "sent/"):
        assert client.get(f"/staff/password/{path}").status_code == 404
    # A link may have been handed over.
    status = 200 if settings.IEIM_PASSWORDS else 404
    assert client.get("/staff/password/MQ/x-y/").status_code == status
    assert "Forgotten" not in client.get("/staff/login/").content.decode()


def test_without_redis_it_says_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(*_args: Any, **_kwargs: Any) -> bool:
        raise RedisIsAway

    monkeypatch.setattr("allauth.core.internal.ratelimit.cache.add", away)
    visitor = Client(raise_request_exception=False)
    answer = visitor.post("/staff/password/", {"email": "ada@example.org"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


@pytest.mark.parametrize("password", ["gladiator3", "Gladiator3", "buster99"])
def test_what_was_in_a_breach_is_no_password(password: str) -> None:
    with pytest.raises(ValidationError, match="too common"):
        validate_password(password)
    validate_password("correct horse battery staple")

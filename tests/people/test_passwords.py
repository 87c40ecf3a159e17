"""A forgotten password: a link by e-mail, once, and no sign of which accounts there are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.test import Client
from django.utils.html import escape
from redis import ConnectionError as RedisIsAway

from ieim.people import passwords
from ieim.people.models import User
from ieim.people.roles import Role
from tests.people.test_factors import log_in, member
from tests.people.test_who_changes_whom import events
from tests.review.people import browser, person

pytestmark = pytest.mark.django_db

NEW = "an entirely new sentence"


@pytest.fixture(autouse=True)
def queued(sent: list[EmailMessage], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a worker was told of; ada's account is there."""
    cache.clear()
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
    page = browser(person("root", Role.ADMINISTRATOR)).post(
        f"/admin/people/user/{ada.pk}/password/", follow=True
    )
    assert "A link to choose a password went to Ada@example.org." in page.content.decode()
    [message] = sent
    assert "Root had it sent to you." in message.body
    assert events("password_link_sent")[-1][1] == "staff:root"


def test_without_a_mail_server_an_administrator_reads_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": ""})
    desk, ada = browser(person("root", Role.ADMINISTRATOR)), User.objects.get(username="ada")
    page = desk.post(f"/admin/people/user/{ada.pk}/password/", follow=True).content.decode()
    assert escape("manage.py changepassword ada") in page
    assert desk.get(f"/admin/people/user/{ada.pk}/password/").status_code == 200


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
    for path in ("", "sent/", "MQ/x-y/"):
        assert client.get(f"/staff/password/{path}").status_code == 404
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

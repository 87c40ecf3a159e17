"""Wrong passwords are counted by account and by address."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from ieim.people.models import User

pytestmark = pytest.mark.django_db

PAGE = "/staff/login/"
RIGHT = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _people(db: None) -> None:
    for name in ("ada", "ben"):
        User.objects.create_superuser(name, password=RIGHT)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three for an account, ten for an address: less to wait for."""
    monkeypatch.setattr(settings, "AXES_FAILURE_LIMIT", 3)
    monkeypatch.setattr(settings, "IEIM_ADDRESS_FAILURE_LIMIT", 10)


def log_in(name: str, password: str, **came: str) -> Any:
    """Send the form in a new browser; returns the response."""
    headers = {"X-Forwarded-For": came["forwarded"]} if "forwarded" in came else {}
    browser = Client(headers=headers, REMOTE_ADDR=came.get("address", "192.0.2.1"))
    return browser.post(PAGE, {"username": name, "password": password})


def test_wrong_ones_keep_the_right_one_out() -> None:
    answers = [log_in("ada", f"guess {n}").status_code for n in range(12)]
    assert answers == [200] * 9 + [429] * 3
    refused = log_in("ada", RIGHT)
    assert refused.status_code == 429
    assert refused["Retry-After"] == "900"
    assert "Too many attempts to log in" in refused.content.decode()
    assert "sessionid" not in refused.cookies
    # From elsewhere too; everybody else goes in.
    assert log_in("ada", RIGHT, address="198.51.100.1").status_code == 429
    assert log_in("ben", RIGHT).status_code == 302


@pytest.mark.usefixtures("few")
def test_it_does_not_say_whether_there_is_such_an_account() -> None:
    records = []
    for name in ("ada", "nobody"):
        pages = [log_in(name, f"guess {n}") for n in range(6)]
        # the name as it was typed, the CSRF token
        varying = re.compile(rf'{name}|value="\w{{64}}"')
        records.append(
            [(page.status_code, varying.sub("", page.content.decode())) for page in pages]
        )
    assert records[0] == records[1]


@pytest.mark.usefixtures("few")
def test_one_password_for_many_accounts_locks_the_address() -> None:
    for number in range(10):
        log_in(f"user{number}", "Password1")
    assert log_in("ada", RIGHT).status_code == 429
    assert log_in("ada", RIGHT, address="198.51.100.1").status_code == 302


@pytest.mark.usefixtures("few")
def test_an_address_is_not_what_the_client_says() -> None:
    for number in range(10):
        log_in(f"user{number}", "Password1", forwarded=f"198.51.100.{number}")
    assert log_in("ada", RIGHT, forwarded="198.51.100.99").status_code == 429


@pytest.mark.usefixtures("few")
def test_an_address_is_what_the_proxy_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_TRUSTED_PROXIES", 1)
    for number in range(10):
        log_in(f"user{number}", "Password1", forwarded=f"9.9.9.{number}, 198.51.100.1")
    assert log_in("ada", RIGHT, forwarded="9.9.9.9, 198.51.100.1").status_code == 429
    assert log_in("ada", RIGHT, forwarded="9.9.9.9, 198.51.100.2").status_code == 302


@pytest.mark.usefixtures("few")
def test_an_own_account_does_not_clear_the_address() -> None:
    for number in range(10):
        log_in("ada", RIGHT) if number % 2 == 0 else None
        log_in(f"user{number}", "Password1")
    assert log_in("ada", RIGHT).status_code == 429


@pytest.mark.usefixtures("few")
def test_who_remembers_it_begins_again() -> None:
    for _ in range(3):
        assert {log_in("ada", "mistyped").status_code for _ in range(2)} == {200}
        assert log_in("ada", RIGHT).status_code == 302


@pytest.mark.usefixtures("few")
def test_it_ends_by_itself() -> None:
    for number in range(5):
        log_in("ada", f"guess {number}")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=15))
    assert log_in("ada", RIGHT).status_code == 302


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "command", [("axes_reset_username", "ada"), ("axes_reset_ip", "192.0.2.1"), ("axes_reset",)]
)
def test_an_operator_unlocks_it(command: tuple[str, ...]) -> None:
    for number in range(5):
        log_in("ada", f"guess {number}")
    call_command(*command, verbosity=0)
    assert log_in("ada", RIGHT).status_code == 302


@pytest.mark.usefixtures("few")
def test_it_takes_an_address_of_ipv6() -> None:
    for number in range(10):
        log_in(f"user{number}", "Password1", address=f"2001:db8::{number:x}")
    assert log_in("ada", RIGHT, address="2001:db8::ffff").status_code == 429
    assert log_in("ada", RIGHT, address="2001:db8:0:1::1").status_code == 302

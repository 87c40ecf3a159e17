"""The mail server, as the settings say it, and what is warned of."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ieim.config import checks
from ieim.config.env import Env
from ieim.config.environment import mail

URL = "https://ask.example.org"
SERVER = {"IEIM_SMTP_HOST": "mail.example.org"}


def test_without_a_server_there_is_no_mail() -> None:
    env = Env({})
    assert mail(env, public_url="")["HOST"] == ""
    env.check()


@pytest.mark.parametrize(("security", "port"), [("starttls", 587), ("tls", 465), ("none", 25)])
def test_each_way_has_its_port(security: str, port: int) -> None:
    env = Env({**SERVER, "IEIM_SMTP_SECURITY": security})
    assert mail(env, public_url=URL)["PORT"] == port
    env.check()


def test_a_sender_is_made_from_the_site_where_none_is_set() -> None:
    found = mail(Env(SERVER), public_url=URL)
    assert (found["FROM"], found["FROM_IS_SET"]) == ("no-reply@ask.example.org", False)


@pytest.mark.parametrize(
    ("set_to", "said"),
    [
        ({"IEIM_MAIL_FROM": "City <a@example.org>"}, "IEIM_MAIL_FROM .*no-reply@example.org"),
        ({"IEIM_OPERATOR_MAIL": "ops@example.org, ops"}, "IEIM_OPERATOR_MAIL is 'ops'"),
        ({"IEIM_OPERATOR_MAIL": "o@example.org", "IEIM_SMTP_HOST": ""}, "Set IEIM_SMTP_HOST too"),
        ({"IEIM_SMTP_USER": "ieim"}, "IEIM_SMTP_USER goes with IEIM_SMTP_PASSWORD"),
        ({"IEIM_SMTP_SECURITY": "ssl"}, "IEIM_SMTP_SECURITY .*starttls, tls, none"),
        ({"IEIM_SMTP_PORT": "70000"}, "IEIM_SMTP_PORT .*65535"),
        ({"IEIM_SMTP_TIMEOUT": "0"}, "IEIM_SMTP_TIMEOUT .*60"),
    ],
)
def test_it_says_what_cannot_be_used(set_to: dict[str, str], said: str) -> None:
    env = Env({**SERVER, **set_to})
    mail(env, public_url=URL)
    with pytest.raises(ImproperlyConfigured, match=said):
        env.check()


def test_links_need_the_address_of_the_site() -> None:
    env = Env(SERVER)
    mail(env, public_url="")
    with pytest.raises(ImproperlyConfigured, match="IEIM_PUBLIC_URL is not set, and e-mails"):
        env.check()


def test_it_warns_of_no_sender_and_no_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(**values: str) -> list[str | None]:
        found = mail(Env({**SERVER, **values}), public_url=URL)
        monkeypatch.setattr(settings, "IEIM_MAIL", found)
        return [each.id for each in checks.mail_is_safe(None)]

    assert warned() == ["ieim.W003"]
    assert warned(IEIM_MAIL_FROM="a@example.org") == []
    assert warned(IEIM_MAIL_FROM="a@example.org", IEIM_SMTP_SECURITY="none") == ["ieim.W004"]
    monkeypatch.setattr(settings, "IEIM_MAIL", mail(Env({}), public_url=""))
    assert checks.mail_is_safe(None) == []

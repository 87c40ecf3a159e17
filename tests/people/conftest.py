"""Fixtures of accounts: the mail server's messages, and an OpenID provider."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.mail import EmailMessage

from ieim.people import post
from ieim.people.services import make_roles
from tests.people import openid_provider
from tests.people.openid_provider import Directory


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[EmailMessage]:
    """The messages that the mail server accepts."""
    messages: list[EmailMessage] = []
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": "mail.example.org"})
    monkeypatch.setattr(post, "hand_over", messages.append)
    return messages


@pytest.fixture(scope="session")
def _provider() -> Iterator[Directory]:
    with openid_provider.running() as directory:
        yield directory


@pytest.fixture
def directory(db: None, _provider: Directory, monkeypatch: pytest.MonkeyPatch) -> Directory:
    """A provider whose address is in the settings."""
    make_roles()
    monkeypatch.setattr(settings, "IEIM_OPENID", _provider.told)
    return _provider

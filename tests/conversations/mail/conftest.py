"""A mail server for the tests of e-mail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.conversations.mail.mailing import SENDER, SITE, PostOffice, post_office


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    """A mail server that the site sends to."""
    with post_office() as running:
        use(monkeypatch, running.port)
        yield running


def use(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Let the site send to a mail server."""
    server = {"HOST": "127.0.0.1", "PORT": port, "SECURITY": "none", "FROM": SENDER}
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, **server})
    monkeypatch.setattr(settings, "IEIM_PUBLIC_URL", SITE)

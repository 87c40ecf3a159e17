"""A mail server for the tests of what operators are told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.conversations.mail.conftest import use
from tests.conversations.mail.mailing import PostOffice, post_office

OPERATORS = ["ops@example.org", "night@example.org"]


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    """A mail server, and operators who want to know."""
    with post_office() as running:
        use(monkeypatch, running.port)
        monkeypatch.setitem(settings.IEIM_MAIL, "OPERATORS", OPERATORS)
        yield running

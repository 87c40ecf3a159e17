"""The editor of the tests of the playground and of the golden questions."""

from __future__ import annotations

import pytest
from django.test import Client

from ieim.people.models import User
from ieim.people.roles import Role
from tests.review.people import browser, person


@pytest.fixture
def edith(published: None) -> User:
    return person("edith", Role.EDITOR)


@pytest.fixture
def editor(edith: User) -> Client:
    return browser(edith)

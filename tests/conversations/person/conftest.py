"""A conversation in which a person was asked for, and a caseworker."""

from __future__ import annotations

import pytest

from conversations.models import PersonRequest
from ieim.people.models import User
from tests.conversations.person.asking import SECRET, wants
from tests.review import desk


@pytest.fixture
def request_(published: None) -> PersonRequest:
    return wants(SECRET)


@pytest.fixture
def eva(db: None) -> User:
    return desk.person("eva")

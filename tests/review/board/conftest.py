"""Items of two agencies, and the people who work for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from ieim.people.models import User
from ieim.people.roles import Role
from review import scope
from review.models import ReviewItem
from tests.review.conftest import make_turn
from tests.review.people import person

OURS, THEIRS = "civil-registry", "immigration"
Make = Callable[..., ReviewItem]


@pytest.fixture
def make(db: None) -> Make:
    """Insert an item of an agency that is due in some minutes."""

    def make(agency: str = OURS, minutes: int = 600, **values: object) -> ReviewItem:
        fields = {"stage": "reply", "reason": "gate.below_threshold", "rank": 1440, **values}
        return ReviewItem.objects.create(
            turn=make_turn(),
            agency=agency,
            agencies=scope.agency_set([agency]),
            due_at=timezone.now() + timedelta(minutes=minutes),
            **fields,
        )

    return make


@pytest.fixture
def lead(db: None) -> User:
    """The lead of one agency."""
    return person("lead", Role.SUPERVISOR, OURS)


@pytest.fixture
def eva(lead: User) -> User:
    """A caseworker of the lead's agency."""
    return person("eva", Role.CASEWORKER, OURS)


@pytest.fixture
def max_(lead: User) -> User:
    """A caseworker of another agency."""
    return person("max", Role.CASEWORKER, THEIRS)

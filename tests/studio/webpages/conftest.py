"""A site, an editor of the passport office, and runs that read without pauses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts.services import import_bundle
from ieim.studio.webpages import fetching
from tests.review.people import person
from tests.studio.webpages.site import City, running_city


@pytest.fixture
def city(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[City]:
    monkeypatch.setattr(fetching, "PAUSE", 0.0)
    with running_city() as running:
        settings.IEIM_PAGE_HOSTS = [running.host, "city.example"]
        yield running


@pytest.fixture
def eve(bundle: Bundle, db: None) -> User:
    import_bundle(bundle=bundle, by=None)
    user = person("eve", Role.EDITOR, "passports")
    User.objects.filter(pk=user.pk).update(email="eve@example.org")
    user.refresh_from_db()
    return user

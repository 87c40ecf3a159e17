"""What the knowledge tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.people.models import User
from tests.knowledge.bundles import tables, write


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """The small good bundle."""
    return read_bundle(write(tmp_path / "bundle", tables()))


@pytest.fixture
def editor(db: None) -> User:
    """A member of staff."""
    return User.objects.create_user("edith", is_staff=True)

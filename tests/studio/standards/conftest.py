"""What the tests of published standards share."""

from __future__ import annotations

import pytest

from ieim.knowledge.bundles.bundle import Bundle
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle


@pytest.fixture
def published(bundle: Bundle, db: None) -> str:
    """A release; its digest."""
    import_bundle(bundle=bundle, by=None)
    return publish(note="", by=None).sha256

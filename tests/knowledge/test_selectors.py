"""Releases as values."""

from __future__ import annotations

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Release
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def publish_fees(fees: str) -> None:
    Service.objects.filter(key="return").update(fees=fees)
    publish(note="", by=None)


def test_it_has_no_release_before_the_first() -> None:
    assert selectors.current_number() is None
    assert selectors.current_release() is None
    with pytest.raises(selectors.UnknownReleaseError, match="no release 1"):
        selectors.release(1)


def test_it_swaps_to_a_newer_publication_at_once(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    first = selectors.current_release()
    publish_fees("free")
    second = selectors.current_release()
    assert first is not None
    assert second is not None
    assert (first.number, second.number, selectors.current_number()) == (1, 2, 2)
    assert second.services["tax", "return"].fees == "free"
    assert selectors.release(1) is first


def test_it_loads_a_release_once_and_then_asks_one_small_query(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    loaded = selectors.current_release()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert selectors.current_release() is loaded
        assert selectors.release(1) is loaded
        assert selectors.current_number() == 1
    assert len(queries) == 3
    assert not any("content" in query["sql"] for query in queries)


def test_it_drops_what_has_not_been_used_since(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    first = selectors.release(1)
    publish_fees("free")
    between = time.monotonic()
    second = selectors.release(2)
    selectors.forget_unused(before=between)
    assert selectors.release(2) is second
    assert selectors.release(1) is not first


def test_it_knows_what_was_published_since(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    assert selectors.newest() is None
    assert selectors.published_since(None) == []
    publish(note="", by=None)
    first = selectors.newest()
    publish_fees("free")
    second = selectors.newest()
    assert first is not None
    assert second is not None
    assert (first.number, second.number) == (1, 2)
    assert selectors.published_since(None) == [second]
    assert selectors.published_since(first) == [first, second]
    assert selectors.published_since(first._replace(sha256="0" * 64)) == [second]
    assert selectors.published_since(second._replace(id=second.id + 1)) == [second]


def test_it_refuses_a_release_that_is_not_what_its_digest_says(bundle: Bundle) -> None:
    Release(number=1, sha256="0" * 64, content=bundle.content).save()
    with pytest.raises(selectors.CorruptReleaseError, match="release 1"):
        selectors.release(1)

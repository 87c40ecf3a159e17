"""The thread that follows what is published: woken at once, outliving errors, gone when stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.db import DatabaseError

from ieim.knowledge import following, selectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.following import Follower
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service

# The thread sees only what has been committed.
pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


def publish_fees(fees: str) -> None:
    Service.objects.filter(key="return").update(fees=fees)
    publish(note="", by=None)


@pytest.fixture(autouse=True)
def _nothing_loaded() -> None:
    """Other tests have loaded releases of the same content."""
    selectors.forget_unused(before=float("inf"))


@pytest.fixture
def running() -> Iterator[Follower]:
    """A follower that has not started; its thread ends with the test."""
    follower = Follower()
    yield follower
    follower.stop()


def test_its_thread_swaps_at_once_after_a_publication(
    bundle: Bundle, running: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long that only being woken can end it.
    monkeypatch.setattr(following, "EVERY", 3600.0)
    ready = {number: threading.Event() for number in (1, 2)}
    step = running.step

    def telling() -> None:
        step()
        if running._ready:
            ready[running._ready.number].set()

    monkeypatch.setattr(running, "step", telling)
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    running.start(trains=True)
    assert ready[1].wait(30)
    publish_fees("free")
    assert ready[2].wait(30)
    assert running.number() == 2


def test_its_thread_outlives_errors_and_says_so_once(
    running: Follower, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(following, "AGAIN", 0.0)
    tries, enough = iter(range(10**6)), threading.Event()

    def failing() -> None:
        if next(tries) >= 3:
            enough.set()
        raise DatabaseError("no connection")

    monkeypatch.setattr(running, "step", failing)
    running.start(trains=True)
    assert enough.wait(30)
    running.stop()
    records = [record for record in caplog.records if record.name == following.__name__]
    assert len(records) == 1


def test_it_leaves_nothing_behind_when_it_stops(
    bundle: Bundle, running: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[bool] = []
    monkeypatch.setattr(running, "wake", lambda: woken.append(True))
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    running.step()
    running.start(trains=True)
    thread = running._thread
    publish_fees("cheap")
    assert woken == [True]
    running.stop()
    assert thread is not None
    assert not thread.is_alive()
    publish_fees("free")
    assert woken == [True]
    assert running.number() == 3

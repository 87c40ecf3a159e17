"""A new release is made ready beside the turns; until then new turns get the one before."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from types import SimpleNamespace

import pytest
from django.db import DatabaseError
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from ieim.knowledge import following, selectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.following import PATIENCE, Follower
from ieim.knowledge.selectors import Published
from ieim.pipeline.knowledge import Release, Translation
from ieim.search import caching
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service

pytestmark = pytest.mark.django_db


def publish_fees(fees: str) -> None:
    Service.objects.filter(key="return").update(fees=fees)
    publish(note="", by=None)


@pytest.fixture(autouse=True)
def _nothing_loaded() -> None:
    """Other tests have loaded releases of the same content."""
    selectors.forget_unused(before=float("inf"))


@pytest.fixture
def first(bundle: Bundle, db: None) -> None:
    """Release 1 is published."""
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)


@pytest.fixture
def follower(first: None) -> Follower:
    """It has made release 1 ready; steps are taken by hand."""
    follower = Follower()
    follower.step()
    return follower


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """The number and language of every release whose index was asked for."""
    records: list[tuple[int, str]] = []

    def index_for(release: Release) -> None:
        records.append((release.number, release.language))

    monkeypatch.setattr(following, "index_for", index_for)
    return records


def test_it_pins_to_nothing_before_the_first_publication() -> None:
    follower = Follower()
    follower.step()
    assert follower.number() is None


@pytest.mark.usefixtures("first")
def test_it_holds_nothing_back_when_it_follows_nothing() -> None:
    follower = Follower()
    publish_fees("free")
    assert follower.number() == 2


def test_it_has_loaded_a_release_before_a_turn_is_pinned_to_it(
    follower: Follower, indexed: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_fees("free")
    loaded: list[int | None] = []
    load = selectors._load

    def loading(number: int, sha256: str) -> Release:
        loaded.append(follower.number())
        return load(number, sha256)

    monkeypatch.setattr(selectors, "_load", loading)
    follower.step()
    assert loaded == [1]
    assert indexed == [(2, "")]
    # Whoever runs the turn finds it loaded.
    assert selectors.release(2).number == 2
    assert loaded == [1]


def test_it_indexes_every_language(bundle: Bundle, indexed: list[tuple[int, str]]) -> None:
    words = [Translation(code, "tax", name="Impôts") for code in ("fr", "de")]
    import_bundle(bundle=Bundle(**{**vars(bundle), "translations": tuple(words)}), by=None)
    publish(note="", by=None)
    Follower().step()
    assert indexed == [(1, ""), (1, "de"), (1, "fr")]


def test_a_process_that_is_behind_answers_from_a_release_when_publishing_said(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_fees("free")
    publication = selectors.newest()
    assert publication is not None
    assert follower.number() == 1
    monkeypatch.setattr("django.utils.timezone.now", lambda: following.effective_by(publication))
    assert follower.number() == 2


def test_it_is_not_kept_waiting_by_one_publication_after_another(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = timezone.now() - 2 * PATIENCE
    with monkeypatch.context() as earlier:
        earlier.setattr("django.utils.timezone.now", lambda: past)
        publish_fees("free")
    publish_fees("cheap")
    assert follower.number() == 3


def test_it_holds_nothing_back_when_a_release_cannot_be_loaded(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_fees("free")
    with monkeypatch.context() as broken:
        broken.setattr(selectors, "_load", fails)
        with pytest.raises(DatabaseError):
            follower.step()
    assert follower.number() == 2


def test_it_asks_one_small_query(
    follower: Follower, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1) as queries:
        follower.step()
    assert "content" not in queries[0]["sql"]
    with django_assert_num_queries(1) as queries:
        assert follower.number() == 1
    assert "content" not in queries[0]["sql"]


def test_it_keeps_what_is_ready_and_drops_what_nobody_asks_for(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_fees("free")
    follower.step()
    ready = selectors.release(2)
    # Every look at the clock is a second later than the one before.
    clock = SimpleNamespace(monotonic=count(10**9).__next__)
    monkeypatch.setattr(caching, "time", clock)
    monkeypatch.setattr(following, "time", clock)
    monkeypatch.setattr(following, "UNUSED", 10)
    follower.step()
    assert [number for number, _ in selectors._releases] == [2]
    assert selectors.release(2) is ready


@given(
    steps=st.lists(st.sampled_from(["publish", "step", "fail", "pin", "hour"]), max_size=30),
)
def test_it_never_goes_back_to_an_earlier_publication(steps: list[str]) -> None:
    """Against a list that stands in for the database, with a clock that a step moves."""
    start = timezone.now()
    publications: list[Published] = [Published(1, 1, "", start)]
    now, broken = start, False
    follower = Follower()

    def prepare(**_options: bool) -> Published:
        if broken:
            raise DatabaseError("no connection")
        return publications[-1]

    def since(ready: Published | None) -> list[Published]:
        return publications[publications.index(ready) :] if ready else publications[-1:]

    pinned = [0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "prepare", prepare)
        patch.setattr(selectors, "published_since", since)
        patch.setattr("ieim.knowledge.following.timezone.now", lambda: now)
        for step in steps:
            if step == "publish":
                publications.append(
                    Published(len(publications) + 1, len(publications) + 1, "", now)
                )
            elif step == "hour":
                now += timedelta(hours=1)
            elif step == "pin":
                pinned.append(follower.number() or 0)
            else:
                broken = step == "fail"
                try:
                    follower.step()
                except DatabaseError:
                    assert broken
    assert pinned == sorted(pinned)


def fails(*_args: object) -> Release:
    """Stand in for loading."""
    raise DatabaseError("no connection")

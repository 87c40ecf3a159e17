"""The vectors of releases: made beside the turns, kept by text and embedder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ieim.knowledge import crisis, following, vectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Vector
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query
from ieim.search import kinds
from ieim.search.caching import Cache
from ieim.search.embedders import CheckedEmbedder
from ieim.search.ranking import texts_of
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service
from tests.embedders import Ideas
from tests.knowledge.reading import taught

pytestmark = pytest.mark.django_db


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


FEW = {
    kind: {"en": [f"{word} {number}" for number in range(5)]}
    for kind, word in {
        "inquiry": "passport",
        "correction": "renew",
        "follow_up": "refund",
        "next": "salary",
        "thanks": "car",
    }.items()
}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ideas(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Ideas:
    """The embedder of this process, which has looked at no release yet."""
    ideas = Ideas()
    careful = CheckedEmbedder(ideas, clock=clock)
    monkeypatch.setattr(vectors, "configured_embedder", lambda: careful)
    monkeypatch.setattr(vectors, "_slots", Cache(vectors._CACHE_SIZE))
    # Thousands of examples teach this embedder nothing.
    monkeypatch.setattr(crisis, "prepare", lambda **_trains: None)
    monkeypatch.setattr(kinds, "examples", lambda: FEW)
    # What is cached of the examples is of all of them, here and in the tests after these.
    for name in ("_by_words", "_languages"):
        monkeypatch.setattr(kinds, name, getattr(kinds, name).__wrapped__)
    monkeypatch.setattr(kinds, "questions", lambda: [("how much money", "fees")])
    return ideas


@pytest.fixture
def reads(ideas: Ideas) -> None:
    """Messages are read in this process."""
    careful = vectors.configured_embedder()
    assert careful is not None
    taught(careful)


@pytest.fixture
def value(bundle: Bundle) -> Release:
    return bundle.release(1)


def forget() -> None:
    """Be another process."""
    vectors._slots.forget_unused(before=float("inf"))


def test_messages_are_read_once_one_process_has_trained(
    ideas: Ideas, value: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors.prepare(value)
    # Any letters are near to something: until it is known who asks, words rank.
    assert not vectors.shortlist_for(value).embedder
    vectors.prepare_reading()
    monkeypatch.setattr(kinds, "train", pytest.fail)
    for _process in "ab":
        forget()
        index = vectors.shortlist_for(value)
        assert index.embedder == ideas.id
        assert index.kinds("my passport is lost")
        vectors._kinds.clear()
        vectors.prepare_reading()


def test_nothing_is_trained_while_the_embedder_is_gone(ideas: Ideas, value: Release) -> None:
    vectors.prepare(value)
    ideas.down = True
    vectors.prepare_reading()
    ideas.down = False
    assert not vectors.shortlist_for(value).kinds("lost passport")


def test_words_answer_until_the_vectors_are_made(ideas: Ideas, reads: None, value: Release) -> None:
    assert not vectors.shortlist_for(value).embedder
    assert ideas.made == []
    vectors.prepare(value)
    assert vectors.shortlist_for(value).embedder == ideas.id
    assert sorted(ideas.made) == sorted(set(texts_of(value)))


def test_another_process_reads_what_is_kept(ideas: Ideas, reads: None, value: Release) -> None:
    vectors.prepare(value)
    made = len(ideas.made)
    forget()
    shortlist = vectors.shortlist_for(value)
    assert shortlist.embedder == ideas.id
    assert shortlist.rank(Query("my holiday papers are gone")).by_meaning
    vectors.prepare(value)
    assert len(ideas.made) == made


def test_what_another_process_makes_is_found_after_a_while(
    ideas: Ideas, reads: None, value: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not vectors.shortlist_for(value).embedder
    texts = {vectors._digest(text): text for text in texts_of(value)}
    vectors._make(CheckedEmbedder(ideas, clock=Clock()), texts)
    assert not vectors.shortlist_for(value).embedder
    monkeypatch.setattr(vectors, "AGAIN", 0.0)
    assert vectors.shortlist_for(value).embedder == ideas.id


def test_a_changed_service_costs_the_vectors_of_its_new_texts(
    ideas: Ideas, reads: None, value: Release
) -> None:
    vectors.prepare(value)
    ideas.made.clear()
    key = ("tax", "return")
    service = replace(value.services[key], overview="What you earned.")
    changed = replace(value, services={**value.services, key: service}, sha256="1" * 64)
    vectors.prepare(changed)
    assert sorted(ideas.made) == sorted(set(texts_of(changed)) - set(texts_of(value)))
    assert all("What you earned." in text for text in ideas.made)
    assert vectors.shortlist_for(changed).embedder == ideas.id


def test_what_another_process_stored_meanwhile_is_not_made_again(
    ideas: Ideas, value: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "BATCH", 1)
    texts = {vectors._digest(text): text for text in texts_of(value)}
    other = Ideas()
    first = ideas.documents

    def and_the_other(wanted: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        vectors._make(CheckedEmbedder(other, clock=Clock()), texts)
        return first(wanted)

    monkeypatch.setattr(ideas, "documents", and_the_other)
    vectors.prepare(value)
    assert len(ideas.made) == 1
    assert Vector.objects.count() == len(texts)


def test_a_release_is_ready_by_words_while_the_embedder_is_gone(
    ideas: Ideas, bundle: Bundle, clock: Clock
) -> None:
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    ideas.down = True
    follower = following.Follower()
    follower.step()
    assert follower.number() == 1
    view = bundle.release(1)
    assert not vectors.shortlist_for(view).embedder
    ideas.down, clock.now = False, 60.0
    follower.step()
    assert vectors.shortlist_for(view).embedder == ideas.id


def test_a_turn_gets_a_release_once_its_vectors_are_made(ideas: Ideas, bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    follower = following.Follower()
    follower.step()
    Service.objects.filter(key="return").update(overview="What you earned.")
    second = publish(note="", by=None)
    assert follower.number() == 1
    before = Vector.objects.count()
    follower.step()
    # One of the entry, one of the new passage.
    assert (follower.number(), Vector.objects.count()) == (2, before + 2)
    assert second.number == 2


def test_a_release_that_no_database_knows_is_kept_in_memory(ideas: Ideas, value: Release) -> None:
    first = vectors.temporary_shortlist(value)
    assert first.embedder == ideas.id
    assert vectors.temporary_shortlist(value) is first
    assert not Vector.objects.exists()


def test_vectors_of_several_widths_are_not_used(
    ideas: Ideas, value: Release, caplog: pytest.LogCaptureFixture
) -> None:
    vectors.prepare(value)
    odd = Vector.objects.earliest("pk")
    odd.value = bytes(odd.value)[:8]
    odd.save()
    forget()
    assert not vectors.shortlist_for(value).embedder
    assert "several widths" in caplog.text

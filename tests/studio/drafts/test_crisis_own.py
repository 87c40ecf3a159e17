"""Examples of an administration: a release teaches them, beside those that are shipped."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from ieim.audit.models import AuditEvent
from ieim.knowledge import crisis, selectors, vectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.following import Follower, effective_by
from ieim.pipeline.knowledge import RiskExample
from ieim.pipeline.ports import Matrix
from ieim.search import examples, train
from ieim.search.crisis import CrisisModel
from ieim.studio import tasks
from ieim.studio.drafts import publishing, services
from ieim.studio.trying import playground
from ieim.studio.trying.playground import ask_both
from ieim.studio.trying.presenters import side_view
from tests.embedders import Feelings
from tests.knowledge.test_crisis import feelings, few, use

__all__ = ["feelings"]

# The small embedder knows both words; the shipped examples have never seen them together.
BOTH = "nobody in the office"
OWN = tuple(RiskExample("en", f"{BOTH}, door {n}", "threat", "danger") for n in range(9))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crisis, "DEADLINE", 60.0)


def published(bundle: Bundle, *own: RiskExample, note: str = "") -> None:
    services.import_bundle(bundle=replace(bundle, risk_examples=own), by=None)
    publishing.publish(note=note, by=None)


def threat() -> bool:
    return any(risk.code == "threat" for risk in crisis.screen(BOTH).risks)


def test_an_own_example_stands_beside_the_shipped_ones() -> None:
    shipped = examples.crisis()
    own = (
        RiskExample("en", "My own words", "self_harm", "danger"),
        RiskExample("en", "Mine, but harmless", "self_harm", "near_miss"),
    )
    combined = examples.crisis(own)
    assert combined.texts == (*shipped.texts, "My own words", "Mine, but harmless")
    assert combined.codes[-2:] == ("self_harm", "")
    assert combined.near == (*shipped.near, len(combined.texts) - 1)


def test_an_own_example_takes_the_place_of_a_shipped_one() -> None:
    shipped = examples.crisis()
    index = shipped.codes.index("violence")
    combined = examples.crisis([RiskExample("en", shipped.texts[index], "violence", "near_miss")])
    assert (combined.texts, combined.codes[index]) == (shipped.texts, "")
    assert index in combined.near


@pytest.mark.both_databases  # PostgreSQL locks the publication while one process trains
@pytest.mark.django_db
def test_a_published_example_is_taught(feelings: Feelings, bundle: Bundle) -> None:
    crisis.prepare(trains=True)
    assert not threat()
    published(bundle, *OWN)
    assert not threat()  # until it is taught, what was taught before answers
    crisis.prepare(trains=True)
    assert threat()
    published(bundle)
    crisis.prepare(trains=True)
    assert not threat()


@pytest.mark.django_db
def test_only_what_is_new_is_made(feelings: Feelings, bundle: Bundle) -> None:
    crisis.prepare(trains=True)
    feelings.made.clear()
    published(bundle, *OWN)
    crisis.prepare(trains=True)
    assert sorted(feelings.made) == sorted(entry.text for entry in OWN)


@pytest.mark.django_db
def test_a_release_with_the_same_examples_is_not_taught_again(
    feelings: Feelings, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(bundle, *OWN)
    crisis.prepare(trains=True)
    monkeypatch.setattr(train, "crisis_model", pytest.fail)
    changed = replace(bundle, services=(replace(bundle.services[0], name="Another"),))
    published(changed, *OWN)
    for _ in range(2):
        crisis.prepare(trains=True)
    assert threat()


@pytest.mark.django_db
def test_the_old_one_answers_while_the_new_one_is_taught(
    monkeypatch: pytest.MonkeyPatch, bundle: Bundle
) -> None:
    records: list[list[str]] = []

    class Asking(Feelings):
        def documents(self, texts: Sequence[str]) -> Matrix:
            if any("door" in text for text in texts):
                records.append([risk.code for risk in crisis.screen("nobody needs me").risks])
            return super().documents(texts)

    use(Asking(), monkeypatch)
    crisis.prepare(trains=True)
    published(bundle, *OWN)
    crisis.prepare(trains=True)
    assert records == [["self_harm"]]


def test_one_is_taught_at_a_time(feelings: Feelings) -> None:
    teaching = [threading.Thread(target=crisis.screen_fully, args=(BOTH, OWN)) for _ in "ab"]
    for thread in teaching:
        thread.start()
    for thread in teaching:
        thread.join()
    assert len(feelings.made) == len(few(OWN).texts)


def test_who_tries_gets_the_examples_that_are_tried(feelings: Feelings) -> None:
    def threat(*own: RiskExample) -> bool:
        return any(risk.code == "threat" for risk in crisis.screen_fully(BOTH, own).risks)

    assert (threat(), threat(*OWN), threat()) == (False, True, False)
    for number in range(3):
        crisis.screen_fully(BOTH, OWN[: number + 1])
    assert len(next(iter(crisis._tried.values()))) == 2


@pytest.mark.django_db
def test_a_web_process_reads_what_the_worker_has_trained(
    feelings: Feelings, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, web = Follower(), Follower()
    worker._trains = True
    worker.step()
    published(bundle, *OWN)
    with monkeypatch.context() as patch:
        patch.setattr(train, "crisis_model", pytest.fail)
        web.step()
        assert web.is_ready  # it answers with what it has
        assert not threat()
    worker.step()
    crisis._current.clear()  # be the web process again
    monkeypatch.setattr(train, "crisis_model", pytest.fail)
    web.step()
    assert threat()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_others_write_while_a_worker_trains(
    feelings: Feelings, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    crisis.prepare(trains=True)
    published(bundle, *OWN)
    crisis_model = train.crisis_model

    def write() -> None:
        vectors.store_model(feelings.id, "written meanwhile", b"")
        connection.close()

    def training(*args: Any, **options: Any) -> CrisisModel:
        with ThreadPoolExecutor(1) as other:
            other.submit(write).result()
        return crisis_model(*args, **options)

    monkeypatch.setattr(train, "crisis_model", training)
    crisis.prepare(trains=True)
    assert vectors.stored_model(feelings.id, "written meanwhile") == b""
    assert threat()
    events = AuditEvent.objects.filter(kind="knowledge.danger_trained").order_by("id")
    assert [json.loads(event.payload)["examples"] for event in events] == [0, len(OWN)]


@pytest.mark.django_db
def test_a_release_waits_until_a_worker_has_trained_and_no_longer_than_any_other(
    feelings: Feelings, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, web, late = Follower(), Follower(), Follower()
    worker._trains = True
    published(bundle)
    for follower in (worker, web, late):
        follower.step()
    published(bundle, *OWN)
    publication = selectors.newest()
    assert publication is not None
    web.step()
    with monkeypatch.context() as patch:
        patch.setattr("django.utils.timezone.now", lambda: effective_by(publication))
        assert late.number() == 2
    numbers, crisis_model = [web.number()], train.crisis_model

    def training(*args: Any, **options: Any) -> CrisisModel:
        numbers.append(worker.number())
        return crisis_model(*args, **options)

    monkeypatch.setattr(train, "crisis_model", training)
    worker.step()
    web.step()
    assert numbers == [1, 1]
    assert (worker.number(), web.number()) == (2, 2)


@pytest.mark.django_db
def test_the_playground_tries_the_drafts_examples_once_a_worker_has_trained(
    feelings: Feelings, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(playground, "queue_after_commit", queued.append)
    published(bundle)
    crisis.prepare(trains=True)
    services.import_bundle(bundle=replace(bundle, risk_examples=OWN), by=None)
    with monkeypatch.context() as web:
        web.setattr(train, "crisis_model", pytest.fail)
        draft, now = map(side_view, ask_both(BOTH))
    assert (draft["untrained"], now["untrained"]) == (True, False)
    assert queued == [playground.TRAIN]
    assert draft["turn"].contacts == now["turn"].contacts
    tasks.train_draft()
    monkeypatch.setattr(train, "crisis_model", pytest.fail)
    draft, now = map(side_view, ask_both(BOTH))
    assert (draft["untrained"], len(queued)) == (False, 1)
    assert len(draft["turn"].contacts) > len(now["turn"].contacts)

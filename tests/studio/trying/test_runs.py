"""Workers at a golden run: outages, killed workers, two at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from ieim.audit.models import AuditEvent
from ieim.llm.offline import OfflineModel
from ieim.people.models import User
from ieim.pipeline.ports import ModelAnswer, ModelRequest, ModelUnavailable
from ieim.studio import runs
from ieim.studio.models import GoldenQuestion, GoldenRun
from ieim.studio.runs import LEASE
from ieim.studio.trying import services
from tests.fixtures import VISA
from tests.studio.evaluation.evaluating import Silent
from tests.studio.trying.trying import SMALL_TALK, keep, proposed, run

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def two(edith: User) -> list[str]:
    """Golden questions: about a visa, and small talk."""
    return [keep(edith), keep(edith, id="s", **SMALL_TALK)]


class Stops(OfflineModel):
    """A model that goes away after some calls."""

    def __init__(self, after: int, error: BaseException) -> None:
        self.left = after
        self.error = error

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return super().complete(request, deadline=deadline)


class Killed(BaseException):
    """What ends a worker in the middle."""


def test_it_queues_the_task_once_all_is_committed(
    edith: User,
    two: list[str],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    queued: list[Any] = []
    monkeypatch.setattr(current_app, "send_task", lambda *sends, **_: queued.append(sends))
    with django_capture_on_commit_callbacks(execute=True):
        started = services.start(proposal=proposed(edith), by=edith)
        assert queued == []
    assert queued == [(runs.TASKS[GoldenRun], (started.pk,))]
    current_app.loader.import_default_modules()
    current_app.tasks[runs.TASKS[GoldenRun]](started.pk)
    assert GoldenRun.objects.get().state == "done"


def test_it_fails_with_a_sentence_in_an_outage_and_can_be_started_again(
    edith: User, two: list[str]
) -> None:
    proposal = proposed(edith)
    model = Stops(7, ModelUnavailable("no server there.", passing=False))
    failed = run(proposal, edith, model=model)
    assert failed.state == "failed"
    assert failed.error == (
        "The model could not be reached: no server there. Start the run again when it can."
    )
    assert run(proposal, edith).state == "done"


def test_it_bears_a_call_that_was_lost(edith: User, two: list[str]) -> None:
    class Once(Silent):
        def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
            self.texts = self.texts if self.asked < 2 else ()
            return super().complete(request, deadline=deadline)

    assert run(proposed(edith), edith, model=Once(VISA)).state == "done"


def test_it_fails_with_a_sentence_after_an_error_of_ours(edith: User, two: list[str]) -> None:
    failed = run(proposed(edith), edith, model=Silent(VISA, error=KeyError("x")))
    assert (failed.state, failed.error) == ("failed", services.RUN_FAILED)


def test_it_names_a_question_that_cannot_be_asked(edith: User, two: list[str]) -> None:
    GoldenQuestion.objects.filter(name="s").update(case={"id": "s"})
    failed = run(proposed(edith), edith)
    assert failed.state == "failed"
    assert "The golden question s cannot be asked" in failed.error


def test_it_goes_on_where_a_killed_worker_stopped(
    edith: User, two: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SAVE_EVERY", 0.0)
    started = services.start(proposal=proposed(edith), by=edith)
    with pytest.raises(Killed):
        services.run_golden(run_id=started.pk, model=Stops(8, Killed()))
    half = GoldenRun.objects.get()
    assert half.state == "running"
    assert 0 < half.done < half.total
    services.run_golden(run_id=started.pk)  # the broker brings it again too early
    assert GoldenRun.objects.get().state == "running"
    later = timezone.now() + LEASE + timedelta(seconds=1)
    runs.sweep(now=later)
    assert GoldenRun.objects.get().state == "queued"
    counting = Stops(10_000, Killed())
    services.run_golden(run_id=started.pk, model=counting)
    finished = GoldenRun.objects.get()
    assert (finished.state, finished.done) == ("done", 4)
    worker = Stops(10_000, Killed())
    run(finished.proposal, edith, model=worker)
    assert 10_000 - counting.left < 10_000 - worker.left


def test_it_writes_nothing_once_another_worker_has_it(
    edith: User, two: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SAVE_EVERY", 0.0)
    started = services.start(proposal=proposed(edith), by=edith)

    class Overtaken(OfflineModel):
        def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
            GoldenRun.objects.update(updated_at=timezone.now())
            return super().complete(request, deadline=deadline)

    services.run_golden(run_id=started.pk, model=Overtaken())
    stored = GoldenRun.objects.get()
    assert (stored.state, stored.done, stored.result) == ("running", 0, None)


def test_it_does_nothing_twice(edith: User) -> None:
    finished = GoldenRun.objects.create(proposal=proposed(edith), state="done", created_by=edith)
    events = AuditEvent.objects.count()
    services.run_golden(run_id=finished.pk, model=Stops(0, Killed()))
    assert runs.sweep(now=timezone.now() + timedelta(days=1), at_start=True) == 0
    assert GoldenRun.objects.get().updated_at == finished.updated_at
    assert AuditEvent.objects.count() == events


def test_it_takes_every_run_for_dead_when_the_only_worker_starts(
    edith: User, two: list[str]
) -> None:
    started = services.start(proposal=proposed(edith), by=edith)
    GoldenRun.objects.filter(pk=started.pk).update(state="running")
    assert runs.sweep() == 0
    assert runs.sweep(at_start=True) == 1
    assert GoldenRun.objects.get().state == "queued"

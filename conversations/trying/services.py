"""Starting a run of the golden questions, and keeping golden questions written by hand."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from conversations.evaluation.cases import MalformedCase, read_case
from conversations.services import LEASE, QUEUE
from ieim.audit.services import record_system
from ieim.knowledge import golden
from ieim.knowledge.models import GoldenQuestion, GoldenRun, Proposal

RUN_GOLDEN = "conversations.tasks.run_golden"

GOING_ON = (GoldenRun.State.QUEUED, GoldenRun.State.RUNNING)


class GoldenError(Exception):
    """It cannot be done; the message is a sentence that says why and what to do."""


@transaction.atomic
def start(*, proposal: Proposal, by: User) -> GoldenRun:
    """Have a worker ask every golden question of a proposal and of the release it would replace.

    Raises :class:`GoldenError` for a proposal that is decided, while a run of it goes on, and where
    there is no golden question.
    """
    locked = Proposal.objects.select_for_update().get(pk=proposal.pk)
    if locked.state != Proposal.State.OPEN:
        raise GoldenError(f"Proposal {locked.pk} is not open any more: there is nothing to decide.")
    if locked.golden_runs.filter(state__in=GOING_ON).exists():
        raise GoldenError("The golden questions are being asked already: wait for the result.")
    questions = GoldenQuestion.objects.count()
    if not questions:
        raise GoldenError("There is no golden question yet: add one first.")
    sides = 1 if locked.base_id is None else 2
    run = GoldenRun.objects.create(proposal=locked, total=questions * sides, created_by=by)
    record_system(
        kind="golden.started",
        actor=f"staff:{by.get_username()}",
        payload={"run": run.pk, "proposal": locked.pk, "questions": questions},
    )
    queue(run.pk)
    return run


def queue(run_id: int) -> None:
    """Queue a run's task after the commit; a broker that fails leaves it to the sweeper."""

    def send() -> None:
        # By name: the tasks import this module.
        current_app.send_task(RUN_GOLDEN, (run_id,), queue=QUEUE, retry=False)

    transaction.on_commit(send, robust=True)


def requeue(*, now: datetime | None = None, at_start: bool = False) -> int:
    """Queue again every run that stands still; returns how many.

    ``at_start`` is for a process that is the only worker: every run then stands still. Each is
    moved by compare-and-set, so two sweepers at once do no harm.
    """
    now = now or timezone.now()
    waiting = GoldenRun.objects.filter(state__in=GOING_ON)
    if not at_start:
        waiting = waiting.filter(updated_at__lt=now - LEASE)
    count = 0
    for run_id, seen in list(waiting.values_list("pk", "updated_at")):
        moved = waiting.filter(pk=run_id, updated_at=seen).update(
            state=GoldenRun.State.QUEUED, updated_at=now
        )
        if moved:
            queue(run_id)
            count += 1
    return count


def keep(
    *, text: str, expected: dict[str, Any], note: str, by: User
) -> tuple[GoldenQuestion, bool]:
    """Keep a question written by hand; ``(question, whether it is new)``.

    ``expected`` is an evaluation case's. The same text is kept once. Raises :class:`GoldenError`
    for a text that no citizen could send.
    """
    case = {
        "id": f"written-{hashlib.sha256(text.strip().encode()).hexdigest()[:16]}",
        "lang": "und",
        "text": text.strip(),
        "history": [],
        "expected": expected,
        "tags": ["written"],
        "labels": "human",
        "source": "written by an editor",
        "note": note.strip(),
    }
    try:
        read_case(json.dumps(golden.redacted(case)).encode())
    except MalformedCase as error:
        raise GoldenError(f"This cannot be kept. {error}.") from error
    return golden.keep(case=case, by=by)

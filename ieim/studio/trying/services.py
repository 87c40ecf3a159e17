"""Starting a run of the golden questions, and keeping golden questions written by hand."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from ieim.audit.services import record_system
from ieim.people.models import User
from ieim.studio import runs
from ieim.studio.evaluation.cases import MalformedCase, read_case
from ieim.studio.models import GoldenQuestion, GoldenRun, Proposal
from ieim.studio.trying.golden import keeping as golden

RUN_GOLDEN = "ieim.studio.tasks.run_golden"


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
        told = gettext("Proposal {number} is not open any more: there is nothing to decide.")
        raise GoldenError(told.format(number=locked.pk))
    if locked.golden_runs.filter(state__in=runs.GOING_ON).exists():
        raise GoldenError(
            gettext("The golden questions are being asked already: wait for the result.")
        )
    questions = GoldenQuestion.objects.count()
    if not questions:
        raise GoldenError(gettext("There is no golden question yet: add one first."))
    sides = 1 if locked.base_id is None else 2
    run = GoldenRun.objects.create(proposal=locked, total=questions * sides, created_by=by)
    record_system(
        kind="golden.started",
        actor=by.actor,
        payload={"run": run.pk, "proposal": locked.pk, "questions": questions},
    )
    runs.queue(RUN_GOLDEN, run.pk)
    return run


def requeue(*, now: datetime | None = None, at_start: bool = False) -> int:
    """Queue again every run that stands still; see :func:`ieim.studio.runs.requeue`."""
    return runs.requeue(GoldenRun, RUN_GOLDEN, now=now, at_start=at_start)


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
        told = gettext("This cannot be kept. {reason}.")
        raise GoldenError(told.format(reason=error)) from error
    return golden.keep(case=case, by=by)

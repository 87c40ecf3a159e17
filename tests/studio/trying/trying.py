"""What the tests of the playground and of the golden questions share."""

from __future__ import annotations

from typing import Any

from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.pipeline.ports import Model
from ieim.studio.drafts import selectors as drafts
from ieim.studio.models import GoldenRun, Proposal, Service
from ieim.studio.trying import services
from tests.studio.evaluation.evaluating import NOTHING_ANSWERS, SMALL_TALK, VISA, line

__all__ = ["NOTHING_ANSWERS", "SMALL_TALK", "VISA", "keep", "proposed", "run", "visa"]


def visa() -> Service:
    """The draft's entry that answers the visa question."""
    return Service.objects.get(key=VISA)


def proposed(by: User) -> Proposal:
    """The draft as a proposal, as it would be stored."""
    bundle = drafts.draft()
    return Proposal.objects.create(
        state=Proposal.State.OPEN,
        content=bundle.content,
        sha256=bundle.release().sha256,
        note="A test.",
        base=Release.objects.order_by("number").last(),
        proposed_by=by,
    )


def keep(by: User, **changes: Any) -> str:
    """Keep a golden question, the visa question with changes; returns its name."""
    question, _ = services.store(case=line(**changes), by=by)
    return question.name


def run(proposal: Proposal, by: User, model: Model | None = None) -> GoldenRun:
    """Start a run, where proposing has not, and do what a worker would."""
    waiting = proposal.golden_runs.filter(state=GoldenRun.State.QUEUED).first()
    started = waiting or services.start(proposal=proposal, by=by)
    services.run_golden(run_id=started.pk, model=model)
    return GoldenRun.objects.get(pk=started.pk)

"""Celery tasks of the studio: an id in, the services do the work."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from ieim.knowledge import crisis
from ieim.studio import runs
from ieim.studio.checks import services as checks
from ieim.studio.drafting import services as drafting
from ieim.studio.drafts import selectors as drafts
from ieim.studio.fresh import links
from ieim.studio.fresh import services as fresh
from ieim.studio.gaps import collecting as gaps
from ieim.studio.models import CheckRun, DraftingRun, GoldenRun, LinkRun, PageRun
from ieim.studio.recall import services as recall
from ieim.studio.trying import playground
from ieim.studio.trying import services as trying
from ieim.studio.webpages import running as webpages


@shared_task(name=runs.TASKS[CheckRun], ignore_result=True)
def run_checks(run_id: int) -> None:
    checks.run_checks(run_id=run_id)


@shared_task(name=runs.TASKS[GoldenRun], ignore_result=True)
def run_golden(run_id: int) -> None:
    trying.run_golden(run_id=run_id)


@shared_task(name=runs.TASKS[DraftingRun], ignore_result=True)
def run_drafting(run_id: int) -> None:
    drafting.run_drafting(run_id=run_id)


@shared_task(name=playground.TRAIN, ignore_result=True)
def train_draft() -> None:
    crisis.train_with(drafts.draft().release(0).risk_examples)


@shared_task(name=recall.SEND, ignore_result=True)
def send_corrections(notice_id: str) -> None:
    recall.deliver(notice_id=UUID(notice_id))


@shared_task(name=gaps.COLLECT, ignore_result=True)
def collect_gaps() -> None:
    gaps.collect()


@shared_task(name=runs.TASKS[LinkRun], ignore_result=True)
def run_link_check(run_id: int) -> None:
    links.run_link_check(run_id=run_id)


@shared_task(name=fresh.REMIND, ignore_result=True)
def send_reminders() -> None:
    fresh.send_reminders()


@shared_task(name=runs.TASKS[PageRun], ignore_result=True)
def run_pages(run_id: int) -> None:
    webpages.run_pages(run_id=run_id)

"""Celery tasks of the studio: an id in, the services do the thinking."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from ieim.studio import sweeper
from ieim.studio.checks import checking
from ieim.studio.recall import sending
from ieim.studio.trying import services as trying
from ieim.studio.trying.golden import running


@shared_task(name=checking.RUN_CHECKS, ignore_result=True)
def run_checks(run_id: int) -> None:
    """Make the searches that the checks of a large draft need."""
    checking.run_checks(run_id=run_id)


@shared_task(name=trying.RUN_GOLDEN, ignore_result=True)
def run_golden(run_id: int) -> None:
    """Run or go on with the golden questions of a proposal."""
    running.run_golden(run_id=run_id)


@shared_task(name=sending.SEND, ignore_result=True)
def send_corrections(notice_id: str) -> None:
    """Put a correction under the answers that it is for; goes on where an earlier run stopped."""
    sending.deliver(notice_id=UUID(notice_id))


@shared_task(name="ieim.studio.tasks.sweep", ignore_result=True)
def sweep() -> None:
    """Queue again what a broker or a worker forgot."""
    sweeper.sweep()

"""Celery tasks of the knowledge: an id in, the services do the thinking."""

from __future__ import annotations

from celery import shared_task

from ieim.knowledge import checking


@shared_task(name=checking.RUN_CHECKS, ignore_result=True)
def run_checks(run_id: int) -> None:
    """Make the searches that the checks of a large draft need."""
    checking.run_checks(run_id=run_id)

"""Celery tasks: an id in, the services do the thinking."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from conversations import running, services, sweeper
from conversations.recall import sending
from conversations.trying import golden
from conversations.trying import services as trying


@shared_task(name=services.RUN_TURN, ignore_result=True)
def run_turn(turn_id: str) -> None:
    """Run or resume a turn; returns at once when there is nothing to do."""
    running.run_turn(turn_id=UUID(turn_id))


@shared_task(name=sending.SEND, ignore_result=True)
def send_corrections(notice_id: str) -> None:
    """Put a correction under the answers that it is for; goes on where an earlier run stopped."""
    sending.deliver(notice_id=UUID(notice_id))


@shared_task(name=trying.RUN_GOLDEN, ignore_result=True)
def run_golden(run_id: int) -> None:
    """Run or go on with the golden questions of a proposal."""
    golden.run_golden(run_id=run_id)


@shared_task(name="conversations.tasks.sweep", ignore_result=True)
def sweep() -> None:
    """Queue again what a broker or a worker forgot."""
    sweeper.sweep()

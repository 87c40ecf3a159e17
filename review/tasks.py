"""Celery tasks of the review app: an id in, the services do the work."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from review.batches import services as batches
from review.board import alerts
from review.deciding import services


@shared_task(name=services.TAKE_EFFECT, ignore_result=True)
def take_effect(item_id: str) -> None:
    """Let a decision take effect whose delay is over; returns at once when there is none."""
    services.take_effect(item_id=UUID(item_id))


@shared_task(name=batches.RUN_BATCH, ignore_result=True)
def run_batch(batch_id: str) -> None:
    """Decide what is left of a batch; returns at once when there is nothing to do."""
    batches.run(batch_id=UUID(batch_id))


@shared_task(name=alerts.SEND, ignore_result=True)
def send_alerts() -> None:
    """Send the alerts of the desk that are due; returns at once when there are none."""
    alerts.send_due()

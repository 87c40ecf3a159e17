"""Celery tasks: an id in, the services do the thinking."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from conversations import retention, sweeper
from conversations.mail import sending
from conversations.mail.services import SEND_MAIL
from conversations.outages import alerts
from conversations.turns import moves, running, triage
from conversations.webhooks import delivering, outbox


@shared_task(name=moves.RUN_TURN, ignore_result=True)
def run_turn(turn_id: str) -> None:
    """Run or resume a turn; returns at once when there is nothing to do."""
    running.run_turn(turn_id=UUID(turn_id))


@shared_task(name=triage.TASK, ignore_result=True)
def run_triage(turn_id: str) -> None:
    """Run what is missing of a turn's triage; returns at once when there is nothing to do."""
    running.run_triage(turn_id=UUID(turn_id))


@shared_task(name=outbox.DELIVER, ignore_result=True)
def deliver(delivery_id: str) -> None:
    """Try to deliver an event to a webhook; returns at once when there is nothing to do."""
    delivering.deliver(delivery_id=UUID(delivery_id))


@shared_task(name="conversations.tasks.sweep", ignore_result=True)
def sweep() -> None:
    """Run every sweep."""
    sweeper.sweep()


@shared_task(name="conversations.tasks.retain", ignore_result=True)
def retain() -> None:
    """Erase what is kept no longer, once a day; returns at once when that is done."""
    sweeper.run(sweeper.RETENTION, retention.apply)


@shared_task(name=SEND_MAIL, ignore_result=True)
def send_mail(request_id: str) -> None:
    """Send the message that a request is due; returns at once when there is none."""
    sending.send_due(request_id=UUID(request_id))


@shared_task(name=alerts.SEND_ALERT, ignore_result=True)
def send_alert(outage_id: str) -> None:
    """Send operators the e-mail that an outage is due; returns at once when there is none."""
    alerts.send_due(outage_id=UUID(outage_id))

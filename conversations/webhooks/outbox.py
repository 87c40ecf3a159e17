"""Outbox of webhooks, written in the transaction of the event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils import timezone

from conversations.queueing import queue_after_commit
from conversations.states import TurnState
from conversations.webhooks.models import Delivery, Event, Subscription, Webhook

if TYPE_CHECKING:
    from conversations.models import Session, Turn

DELIVER = "conversations.tasks.deliver"

EVENTS: Mapping[TurnState, Event] = {
    TurnState.ANSWERED: Event.ANSWERED,
    TurnState.NEEDS_REVIEW: Event.HELD,
    TurnState.ASKING: Event.CHOICE,
}


class NoWebhook(Exception):
    """There is no webhook of this name; the message says so."""


def subscribe(session: Session, name: str) -> None:
    """Subscribe a webhook, which may be stopped, to a new session. Raises: NoWebhook."""
    webhook = Webhook.objects.filter(name=name).first()
    if webhook is None:
        raise NoWebhook(f"Nobody has made a webhook {name!r} here: ask who runs this site.")
    Subscription.objects.create(session=session, webhook=webhook)


def notify(turn: Turn, event: Event | None = None) -> None:
    """Store and queue ``event``, by default that of the state which the turn has just entered.

    Does nothing in a session without a webhook.
    """
    event = event or EVENTS.get(TurnState(turn.state))
    webhooks = Webhook.objects.filter(subscriptions__session=turn.session_id, stopped_at=None)
    webhook = webhooks.first() if event else None
    if event is None or webhook is None:
        return
    now = timezone.now()
    delivery = Delivery.objects.create(
        webhook=webhook, turn=turn, event=event.value, happened_at=now, due_at=now
    )
    queue(delivery.pk)


def queue(delivery_id: UUID) -> None:
    """Queue the task of a delivery after the commit; the sweeper queues it again if that fails."""
    # By name: the tasks import this module.
    queue_after_commit(DELIVER, str(delivery_id), queue="turns")

"""The outbox of webhooks, written in the transaction of the event."""

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
"""The event of a turn that has entered a state."""


class NoWebhook(Exception):
    """Nobody has made a webhook of this name; the message says so."""


def subscribe(session: Session, name: str) -> None:
    """Subscribe a webhook to a new session, inside the caller's transaction.

    One that is stopped may be named: it can be started again. Raises :class:`NoWebhook`.
    """
    webhook = Webhook.objects.filter(name=name).first()
    if webhook is None:
        raise NoWebhook(f"Nobody has made a webhook {name!r} here: ask who runs this site.")
    Subscription.objects.create(session=session, webhook=webhook)


def tell(turn: Turn, event: Event | None = None) -> None:
    """Store and queue the event of a turn that has just entered its state.

    ``event`` replaces the one of the state. Does nothing for a session without a webhook.
    """
    event = event or EVENTS.get(TurnState(turn.state))
    if event is None:
        return
    subscribed = Webhook.objects.filter(subscriptions__session=turn.session_id, stopped_at=None)
    webhook = subscribed.first()
    if webhook is None:
        return
    now = timezone.now()
    delivery = Delivery.objects.create(
        webhook=webhook, turn=turn, event=event.value, happened_at=now, due_at=now
    )
    queue(delivery.pk)


def queue(delivery_id: UUID) -> None:
    """Queue a delivery's task after the commit; what fails there is left to the sweeper."""
    # By name: the tasks import this module.
    queue_after_commit(DELIVER, str(delivery_id), queue="turns")

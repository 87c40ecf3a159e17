"""Delivery of the webhook outbox: claim a message, send it, store the result."""

from __future__ import annotations

import json
import logging
import random
import threading
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from conversations.turns import executor
from conversations.webhooks import outbox, sending, services, signing
from conversations.webhooks.models import Delivery

logger = logging.getLogger(__name__)

CLAIM = timedelta(seconds=60)
"""How long a delivery belongs to the worker that claimed it; longer than an attempt takes."""
RETRY_DELAYS = (
    *(timedelta(seconds=5), timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30)),
    *(timedelta(hours=2), timedelta(hours=5), timedelta(hours=8), timedelta(hours=10)),
)
"""Pauses between attempts, give or take a tenth. After the last one the delivery is given up."""
SWEEP_SIZE = 100
"""Deliveries that a sweep queues again at most."""

_slots = threading.BoundedSemaphore(16)
"""Attempts of a process at a time: receivers that hang leave its other threads to the turns."""


def deliver(*, delivery_id: UUID) -> None:
    """Attempt a delivery that is due, unless another worker has claimed it or no slot is free."""
    if not _slots.acquire(blocking=False):
        return  # it stays due, so the sweeper queues it again
    try:
        with executor.claiming:
            delivery = _claim(delivery_id)
            executor.release_connection()
        if delivery is None:
            return
        error = _send(delivery)
        with executor.claiming:
            _finish(delivery, error)
    finally:
        _slots.release()


def sweep(*, now: datetime) -> None:
    """Queue deliveries that are due, also those that a broker or a worker has lost."""
    due = Delivery.objects.filter(given_up_at=None, webhook__stopped_at=None, due_at__lte=now)
    for delivery_id in due.order_by("due_at").values_list("pk", flat=True)[:SWEEP_SIZE]:
        outbox.queue(delivery_id)


def _claim(delivery_id: UUID) -> Delivery | None:
    """Claim a delivery in one compare-and-set; None if it is not due, claimed or erased."""
    now = timezone.now()
    due = Delivery.objects.filter(pk=delivery_id, given_up_at=None, due_at__lte=now)
    if not due.filter(webhook__stopped_at=None).update(due_at=now + CLAIM, tries=F("tries") + 1):
        return None
    return Delivery.objects.select_related("webhook", "turn").filter(pk=delivery_id).first()


def _send(delivery: Delivery) -> str:
    """Send a delivery; return the error, "" for none. The body has ids only, no word of a turn."""
    webhook, now = delivery.webhook, timezone.now()
    event = {
        "type": delivery.event,
        "timestamp": delivery.happened_at.isoformat().replace("+00:00", "Z"),
        "data": {"session": str(delivery.turn.session_id), "turn": str(delivery.turn_id)},
    }
    body = json.dumps(event).encode()
    headers = signing.headers(webhook, message=delivery.pk, now=now, body=body)
    try:
        sending.send(webhook.url, private=webhook.private, headers=headers, body=body)
    except sending.DeliveryError as error:
        logger.warning("webhook %s: not delivered: %s", webhook.name, error)
        return str(error)
    return ""


def _finish(delivery: Delivery, error: str) -> None:
    """Delete a delivery that arrived; schedule the next attempt of any other, or give it up."""
    is_gone = error == "status-410"
    if not error:
        Delivery.objects.filter(pk=delivery.pk).delete()
    elif is_gone or delivery.tries > len(RETRY_DELAYS):
        services.give_up(delivery_id=delivery.pk, trouble=error)
        if is_gone:
            services.stop(webhook_id=delivery.webhook_id, why="gone")
    else:
        delay = RETRY_DELAYS[delivery.tries - 1] * random.uniform(0.9, 1.1)  # noqa: S311  # jitter, no secret
        claimed = Delivery.objects.filter(pk=delivery.pk, tries=delivery.tries, given_up_at=None)
        claimed.update(due_at=timezone.now() + delay, trouble=error)

"""Delivery of the webhook outbox: claim a message, send it, record the result."""

from __future__ import annotations

import json
import logging
import random
import threading
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from conversations.turns import executor
from conversations.webhooks import outbox, sending, services, signing
from conversations.webhooks.models import Delivery
from conversations.webhooks.sending import Failed

logger = logging.getLogger(__name__)

CLAIM = timedelta(seconds=60)
"""How long a delivery is its worker's: more than a try can take."""
PAUSES = (
    *(timedelta(seconds=5), timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30)),
    *(timedelta(hours=2), timedelta(hours=5), timedelta(hours=8), timedelta(hours=10)),
)
"""Between the tries, give or take a tenth: a little more than a day, then it is given up."""
AT_ONCE = 16
"""Tries of a process at a time, so that receivers that hang leave its threads to the turns."""
SWEPT = 100
"""How many a sweep queues again at most: the next one is soon."""

_places = threading.BoundedSemaphore(AT_ONCE)


def deliver(*, delivery_id: UUID) -> None:
    """Try to deliver what is due; returns at once where another worker has it or too many hang."""
    if not _places.acquire(blocking=False):
        return  # it is still due: the sweeper comes back to it
    try:
        with executor.claiming:
            claimed = _claim(delivery_id)
            executor.release_connection()
        if claimed is None:
            return
        failed = _try(claimed)
        with executor.claiming:
            _finish(claimed, failed)
    finally:
        _places.release()


def sweep(*, now: datetime) -> None:
    """Queue again what is due: its time has come, or a broker or a worker forgot it."""
    due = Delivery.objects.filter(given_up_at=None, webhook__stopped_at=None, due_at__lte=now)
    for delivery_id in due.order_by("due_at").values_list("pk", flat=True)[:SWEPT]:
        outbox.queue(delivery_id)


def _claim(delivery_id: UUID) -> Delivery | None:
    """One compare-and-set: of two workers one finds it due. With all that a try needs, so that it
    needs no database; None also for what was erased meanwhile."""
    now = timezone.now()
    mine = Delivery.objects.filter(pk=delivery_id, given_up_at=None, due_at__lte=now)
    if not mine.filter(webhook__stopped_at=None).update(due_at=now + CLAIM, tries=F("tries") + 1):
        return None
    return Delivery.objects.select_related("webhook", "turn").filter(pk=delivery_id).first()


def _body(delivery: Delivery) -> bytes:
    """Return the message without any text: the receiver reads the turn with the session's token."""
    body = {
        "type": delivery.event,
        "timestamp": delivery.happened_at.isoformat().replace("+00:00", "Z"),
        "data": {"session": str(delivery.turn.session_id), "turn": str(delivery.turn_id)},
    }
    return json.dumps(body).encode()


def _try(delivery: Delivery) -> Failed | None:
    webhook, now, body = delivery.webhook, timezone.now(), _body(delivery)
    signed = signing.headers(
        signing.secrets(webhook, now),
        message=delivery.pk,
        timestamp=int(now.timestamp()),
        body=body,
    )
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"IEIM/{settings.IEIM_VERSION}",
        **signed,
    }
    try:
        sending.send(webhook.url, private=webhook.private, headers=headers, body=body)
    except Failed as failed:
        logger.warning("webhook %s: not delivered: %s", webhook.name, failed.trouble)
        return failed
    return None


def _finish(delivery: Delivery, failed: Failed | None) -> None:
    """Delete what has arrived; of what has not, write down when the next try is, or that there is
    none."""
    if failed is None:
        Delivery.objects.filter(pk=delivery.pk).delete()
    elif failed.gone or delivery.tries > len(PAUSES):
        services.give_up(delivery_id=delivery.pk, trouble=failed.trouble)
        if failed.gone:
            services.stop(webhook_id=delivery.webhook_id, why="gone")
    else:
        pause = PAUSES[delivery.tries - 1] * random.uniform(0.9, 1.1)  # noqa: S311  # jitter, no secret
        mine = Delivery.objects.filter(pk=delivery.pk, tries=delivery.tries, given_up_at=None)
        mine.update(due_at=timezone.now() + pause, trouble=failed.trouble)

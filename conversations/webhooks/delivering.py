"""Delivery of the webhook outbox: claim a message, send it, record the result."""

from __future__ import annotations

import json
import logging
import random
import threading
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a try needs, so that it needs no database."""

    id: UUID
    tries: int
    webhook: UUID
    name: str
    url: str
    private: bool
    secrets: list[str]
    body: bytes


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


def sweep(*, now: datetime) -> int:
    """Queue again what is due: its time has come, or a broker or a worker forgot it."""
    due = Delivery.objects.filter(given_up_at=None, webhook__stopped_at=None, due_at__lte=now)
    found = list(due.order_by("due_at").values_list("pk", flat=True)[:SWEPT])
    for delivery_id in found:
        outbox.queue(delivery_id)
    return len(found)


def _claim(delivery_id: UUID) -> Claimed | None:
    """One compare-and-set: of two workers one finds it due."""
    now = timezone.now()
    mine = Delivery.objects.filter(pk=delivery_id, given_up_at=None, due_at__lte=now)
    if not mine.filter(webhook__stopped_at=None).update(due_at=now + CLAIM, tries=F("tries") + 1):
        return None
    found = Delivery.objects.select_related("webhook", "turn").filter(pk=delivery_id).first()
    if found is None:
        return None  # erased meanwhile
    return Claimed(
        id=found.pk,
        tries=found.tries,
        webhook=found.webhook_id,
        name=found.webhook.name,
        url=found.webhook.url,
        private=found.webhook.private,
        secrets=signing.secrets(found.webhook, now),
        body=_body(found),
    )


def _body(delivery: Delivery) -> bytes:
    """Return the message without any text: the receiver reads the turn with the session's token."""
    body = {
        "type": delivery.event,
        "timestamp": delivery.happened_at.isoformat().replace("+00:00", "Z"),
        "data": {"session": str(delivery.turn.session_id), "turn": str(delivery.turn_id)},
    }
    return json.dumps(body).encode()


def _try(claimed: Claimed) -> Failed | None:
    now = int(timezone.now().timestamp())
    signed = signing.headers(claimed.secrets, message=claimed.id, timestamp=now, body=claimed.body)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"IEIM/{settings.IEIM_VERSION}",
        **signed,
    }
    try:
        sending.send(claimed.url, private=claimed.private, headers=headers, body=claimed.body)
    except Failed as failed:
        logger.warning("webhook %s: not delivered: %s", claimed.name, failed.trouble)
        return failed
    return None


def _finish(claimed: Claimed, failed: Failed | None) -> None:
    if failed is None:
        Delivery.objects.filter(pk=claimed.id).delete()
    elif failed.gone:
        _note(claimed, failed, final=True)
        services.stop(webhook_id=claimed.webhook, why="gone")
    else:
        _note(claimed, failed, final=claimed.tries > len(PAUSES))


def _note(claimed: Claimed, failed: Failed, *, final: bool) -> None:
    """Write down that a try has failed, and when the next one is; or that there is none."""
    if final:
        services.give_up(delivery_id=claimed.id, trouble=failed.trouble)
        return
    pause = PAUSES[claimed.tries - 1] * random.uniform(0.9, 1.1)  # noqa: S311  # jitter, no secret
    mine = Delivery.objects.filter(pk=claimed.id, tries=claimed.tries, given_up_at=None)
    mine.update(due_at=timezone.now() + pause, trouble=failed.trouble)

"""Writes on webhooks and on deliveries that were given up."""

from __future__ import annotations

import re
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from conversations.models import Session
from conversations.turns.locking import locked
from conversations.webhooks import outbox, sending, signing
from conversations.webhooks.models import Delivery, Webhook
from ieim.audit import services as audit

NAME = r"[a-z0-9][a-z0-9-]{0,39}"


class WebhookError(Exception):
    """An operation that was refused; the message says what to do."""


def create(*, name: str, url: str, private: bool) -> str:
    """Create a webhook and return its secret; ``private`` allows hosts of the operator's network.

    Raises: WebhookError.
    """
    if not re.fullmatch(NAME, name):
        raise WebhookError("Call it by 1 to 40 small letters, digits and -, such as office.")
    try:
        host = sending.parse(url).host
    except sending.ForbiddenAddress as error:
        raise WebhookError(str(error)) from error
    webhook = Webhook(name=name, url=url, private=private, created_at=timezone.now())
    try:
        with transaction.atomic():
            webhook.save(force_insert=True)
            _record("webhook.made", webhook, host=host, private=private)
    except IntegrityError as error:
        raise WebhookError(f"There is a webhook {name} already: remove it first.") from error
    return signing.secret(webhook)


@transaction.atomic
def rotate(*, name: str) -> str:
    """Replace the secret of a webhook and return the new one. Raises: WebhookError.

    The old secret signs too for :data:`signing.OVERLAP`.
    """
    webhook = _lock(name)
    webhook.generation += 1
    webhook.rotated_at = timezone.now()
    webhook.save(update_fields=["generation", "rotated_at"])
    _record("webhook.rotated", webhook, generation=webhook.generation)
    return signing.secret(webhook)


@transaction.atomic
def start(*, name: str) -> None:
    """Start a webhook that was stopped; later events are sent. Raises: WebhookError."""
    webhook = _lock(name)
    if webhook.stopped_at is not None:
        webhook.stopped_at = None
        webhook.save(update_fields=["stopped_at"])
        _record("webhook.started", webhook)


def stop(*, webhook_id: UUID, why: str) -> None:
    """Stop a webhook and give up its deliveries; does nothing if it is stopped."""
    with transaction.atomic():
        running = Webhook.objects.filter(pk=webhook_id, stopped_at=None)
        webhook = running.select_for_update(no_key=True).first()
        if webhook is None:
            return
        webhook.stopped_at = timezone.now()
        webhook.save(update_fields=["stopped_at"])
        _record("webhook.stopped", webhook, why=why)
    # One transaction each: every delivery is recorded in the chain of its session.
    for delivery in Delivery.objects.filter(webhook=webhook_id, given_up_at=None):
        give_up(delivery_id=delivery.pk, trouble=delivery.trouble or "stopped")


@transaction.atomic
def remove(*, name: str) -> None:
    """Delete a webhook with its deliveries. Raises: WebhookError."""
    webhook = _lock(name)
    _record("webhook.removed", webhook)
    webhook.delete()


@transaction.atomic
def give_up(*, delivery_id: UUID, trouble: str) -> None:
    """Give up a delivery; does nothing if it is given up or erased."""
    delivery = _lock_delivery(delivery_id)
    if delivery is not None and delivery.given_up_at is None:
        delivery.given_up_at, delivery.trouble = timezone.now(), trouble
        delivery.save(update_fields=["given_up_at", "trouble"])
        _record_delivery("webhook.given_up", delivery)


@transaction.atomic
def send_again(*, delivery_id: UUID) -> bool:
    """Queue a delivery that was given up; return False if it was not, or its webhook is stopped."""
    delivery = _lock_delivery(delivery_id)
    if delivery is None or delivery.given_up_at is None or delivery.webhook.stopped_at is not None:
        return False
    _record_delivery("webhook.sent_again", delivery)
    delivery.given_up_at, delivery.tries, delivery.due_at = None, 0, timezone.now()
    delivery.save(update_fields=["given_up_at", "tries", "due_at"])
    outbox.queue(delivery.pk)
    return True


def _lock(name: str) -> Webhook:
    webhook = Webhook.objects.select_for_update(no_key=True).filter(name=name).first()
    if webhook is None:
        raise WebhookError(f"There is no webhook {name!r}. `manage.py webhooks list` shows them.")
    return webhook


def _lock_delivery(delivery_id: UUID) -> Delivery | None:
    """Return a delivery, its session locked as erasing locks it; None if it was erased."""
    session = Session.objects.filter(turns__deliveries=delivery_id).values("pk")
    if locked(Session.objects.filter(pk__in=session)).first() is None:
        return None
    return Delivery.objects.select_related("turn", "webhook").filter(pk=delivery_id).first()


def _record(kind: str, webhook: Webhook, **fields: str | int | bool) -> None:
    payload = {"webhook": webhook.name, **fields}
    audit.record_system(kind=kind, payload=payload, actor="system")


def _record_delivery(kind: str, delivery: Delivery) -> None:
    audit.record(
        chain=delivery.turn.session_id,
        kind=kind,
        actor="system",
        payload={
            "delivery": str(delivery.pk),
            "turn": str(delivery.turn_id),
            "event": delivery.event,
            "tries": delivery.tries,
            "trouble": delivery.trouble,
        },
    )

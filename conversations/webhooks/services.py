"""Writes on webhooks: making one, its secret, stopping and starting it, and what did not arrive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from conversations.models import Session
from conversations.turns.locking import locked
from conversations.webhooks import outbox, sending, signing
from conversations.webhooks.models import Delivery, Webhook
from ieim.audit import services as audit

NAME = r"[a-z0-9][a-z0-9-]{0,39}"


class Refused(Exception):
    """What cannot be done; nothing was changed. The message is a sentence that says what to do."""


def make(*, name: str, url: str, private: bool) -> str:
    """Make a webhook; returns its secret, which is told this once. Raises :class:`Refused`.

    ``private`` lets its host be one of the operator's own network.
    """
    if not re.fullmatch(NAME, name):
        raise Refused("Call it by 1 to 40 small letters, digits and -, such as office.")
    try:
        host = sending.read(url).host
    except sending.Unusable as error:
        raise Refused(str(error)) from error
    webhook = Webhook(name=name, url=url, private=private, created_at=timezone.now())
    try:
        with transaction.atomic():
            webhook.save(force_insert=True)
            _record("webhook.made", webhook, host=host, private=private)
    except IntegrityError as error:
        raise Refused(f"There is a webhook {name} already: remove it first.") from error
    return signing.secret(webhook)


@transaction.atomic
def rotate(*, name: str) -> str:
    """Give a webhook another secret; returns it, which is told this once. Raises :class:`Refused`.

    What is sent has a signature by the old one too for :data:`signing.OVERLAP`.
    """
    webhook = _locked(name)
    webhook.generation += 1
    webhook.rotated_at = timezone.now()
    webhook.save(update_fields=["generation", "rotated_at"])
    _record("webhook.rotated", webhook, generation=webhook.generation)
    return signing.secret(webhook)


@transaction.atomic
def start(*, name: str) -> None:
    """Let a webhook be told again, of what happens from now on. Raises :class:`Refused`."""
    webhook = _locked(name)
    if webhook.stopped_at is None:
        return
    webhook.stopped_at = None
    webhook.save(update_fields=["stopped_at"])
    _record("webhook.started", webhook)


def stop(*, webhook_id: UUID, why: str) -> None:
    """Tell a webhook nothing more; what has not arrived is given up. Again is no change."""
    with transaction.atomic():
        running = Webhook.objects.filter(pk=webhook_id, stopped_at=None)
        webhook = running.select_for_update(no_key=True).first()
        if webhook is None:
            return
        webhook.stopped_at = timezone.now()
        webhook.save(update_fields=["stopped_at"])
        _record("webhook.stopped", webhook, why=why)
    # One by one: each belongs to the record of its session.
    for delivery in Delivery.objects.filter(webhook=webhook_id, given_up_at=None):
        give_up(delivery_id=delivery.pk, trouble=delivery.trouble or "stopped")


@transaction.atomic
def remove(*, name: str) -> None:
    """Delete a webhook with what it was to be told. Raises :class:`Refused`."""
    webhook = _locked(name)
    _record("webhook.removed", webhook)
    webhook.delete()


@transaction.atomic
def give_up(*, delivery_id: UUID, trouble: str) -> None:
    """Give a delivery up, in the record of its session too; again is no change."""
    delivery = _delivery(delivery_id, given_up_at=None)
    if delivery is None:
        return
    delivery.given_up_at, delivery.trouble = timezone.now(), trouble
    delivery.save(update_fields=["given_up_at", "trouble"])
    _record_delivery("webhook.given_up", delivery)


def send_again(*, deliveries: Sequence[UUID]) -> int:
    """Send again what was given up, of webhooks that are not stopped; returns how many."""
    return sum(_send_again(each) for each in deliveries)


@transaction.atomic
def _send_again(delivery_id: UUID) -> bool:
    delivery = _delivery(delivery_id, given_up_at__isnull=False, webhook__stopped_at=None)
    if delivery is None:
        return False
    _record_delivery("webhook.sent_again", delivery)
    delivery.given_up_at, delivery.tries, delivery.due_at = None, 0, timezone.now()
    delivery.save(update_fields=["given_up_at", "tries", "due_at"])
    outbox.queue(delivery.pk)
    return True


def _delivery(delivery_id: UUID, **which: object) -> Delivery | None:
    """Return a delivery with its session locked, None where there is no such one."""
    found = Delivery.objects.filter(pk=delivery_id).values_list("turn__session_id", flat=True)
    session = found.first()
    # The session first, as whoever erases it does: then the delivery is there, or gone for good.
    if session is None or locked(Session.objects.all()).filter(pk=session).first() is None:
        return None
    return Delivery.objects.select_related("turn").filter(pk=delivery_id, **which).first()


def _locked(name: str) -> Webhook:
    webhook = Webhook.objects.select_for_update(no_key=True).filter(name=name).first()
    if webhook is None:
        raise Refused(f"There is no webhook {name!r}. `manage.py webhooks list` shows them.")
    return webhook


def _record(kind: str, webhook: Webhook, **more: str | int | bool) -> None:
    payload = {"webhook": webhook.name, **more}
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


def overview() -> QuerySet[Any]:
    """Return every webhook by name, with how many events have not arrived yet (``waiting``) and how
    many were given up."""
    given_up = Count("deliveries", filter=Q(deliveries__given_up_at__isnull=False))
    return Webhook.objects.annotate(waiting=Count("deliveries") - given_up, given_up=given_up)


def given_up() -> QuerySet[Delivery]:
    """Return what was given up and not sent again, the oldest first."""
    return Delivery.objects.filter(given_up_at__isnull=False).select_related("webhook")

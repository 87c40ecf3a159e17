"""Webhooks, the sessions that they are subscribed to, and undelivered events."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class Event(models.TextChoices):
    """Kinds of events."""

    ANSWERED = "answered", "there is a reply to read"
    HELD = "held", "it waits for a person"
    CHOICE = "choice", "the citizen is asked to choose"


class Webhook(models.Model):
    """Address that events are sent to, under the name that sessions use.

    Its secrets are derived from the site's key, ``id`` and ``generation``
    (:mod:`conversations.webhooks.signing`). ``private`` allows hosts in the operator's own
    network. While ``stopped_at`` is set, no event is stored or sent.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=40, unique=True)
    url = models.CharField(max_length=500)
    private = models.BooleanField(default=False)
    generation = models.PositiveIntegerField(default=1)
    rotated_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


class Subscription(models.Model):
    """Webhook of a session."""

    session = models.OneToOneField(
        "conversations.Session",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="subscription",
    )
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="subscriptions")

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.webhook_id} of {self.session_id}"


class Delivery(models.Model):
    """Event that has not arrived; deleted when it has, kept when it was given up.

    ``id`` is the same in every attempt, so that receivers recognise a second one. A worker claims
    it by moving ``due_at``. ``trouble`` is the error of the last attempt, such as ``status-500``.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    turn = models.ForeignKey(
        "conversations.Turn", on_delete=models.CASCADE, related_name="deliveries"
    )
    event = models.CharField(max_length=16, choices=Event.choices)
    happened_at = models.DateTimeField()
    due_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    trouble = models.CharField(max_length=40, blank=True)
    given_up_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["happened_at", "pk"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["due_at"], condition=Q(given_up_at=None), name="delivery_due")
        ]

    def __str__(self) -> str:
        return f"{self.event} of {self.turn_id}"

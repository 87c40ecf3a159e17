"""Who is told, of which sessions, and what has not arrived yet."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class Event(models.TextChoices):
    """What a webhook tells of a turn: its state, and nothing of its words."""

    ANSWERED = "answered", "there is a reply to read"
    HELD = "held", "it waits for a person"
    CHOICE = "choice", "the citizen is asked to choose"


class Webhook(models.Model):
    """An address that is told, and by which name sessions ask for it.

    Its secrets are stored nowhere: they are made of the installation's own key, ``id`` and
    ``generation`` (:mod:`conversations.webhooks.signing`). ``private`` lets the address be one
    within the operator's own network. Nothing is sent, and nothing is written down to be sent,
    while ``stopped_at`` is set.
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
    """That a session was opened with a webhook to be told."""

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
    """An event that has not arrived yet: deleted when it has, kept when it was given up.

    ``id`` is the same at every try, so that a receiver can tell a second one. Whoever claims it
    puts ``due_at`` off, and has it until then. ``trouble`` is what came of the last try, such as
    ``status-500`` or ``timeout``.
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

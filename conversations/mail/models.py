"""Requests to be told by e-mail; each row is its own outbox."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class MailState(models.TextChoices):
    """Where a request to be told by e-mail stands."""

    ASKED = "asked", "the address is not confirmed yet"
    CONFIRMED = "confirmed", "waits for the answer"
    TELLING = "telling", "the answer is there, and the message is to be sent"
    TOLD = "told", "the message was sent"
    STOPPED = "stopped", "not wanted any more, or never was"
    EXPIRED = "expired", "nobody confirmed the address"
    REFUSED = "refused", "the mail server does not take the address"
    UNREACHABLE = "unreachable", "the mail server could not be reached for too long"
    CLOSED = "closed", "ended without an answer"


OPEN = (MailState.ASKED.value, MailState.CONFIRMED.value, MailState.TELLING.value)
"""The states in which an address is kept."""


class MailRequest(models.Model):
    """A citizen's request to be told by e-mail that a turn has its answer.

    ``address`` is empty as soon as the request has ended. ``language`` is that of the page that it
    was asked from (as Django names it). ``due_at`` is when a message is to be sent next, None where
    none is; ``lease`` is the send that is at it until ``leased_until``, ``tries`` how often it
    failed. ``confirm_sha256`` and ``answer_sha256`` are lower-case hex SHA-256 of the secrets of
    the links in the two messages, empty before each was sent.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    turn = models.ForeignKey(
        "conversations.Turn", on_delete=models.CASCADE, related_name="mail_requests"
    )
    session = models.ForeignKey(
        "conversations.Session", on_delete=models.CASCADE, related_name="mail_requests"
    )
    address = models.CharField(max_length=254, blank=True)
    language = models.CharField(max_length=16)
    state = models.CharField(max_length=12, choices=MailState.choices)
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    confirm_sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    answer_sha256 = models.CharField(max_length=64, blank=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["turn"], condition=Q(state__in=OPEN), name="one_open_mail_request_a_turn"
            )
        ]
        indexes = [
            models.Index(fields=["state", "asked_at"], name="mail_request_state"),
            models.Index(fields=["due_at"], name="mail_request_due"),
        ]

    def __str__(self) -> str:
        return f"mail for {self.turn_id} ({self.state})"

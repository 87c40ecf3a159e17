"""Readings of sent answers by people who did not decide them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Score(models.TextChoices):
    """What a reader says of a sentence and its source, from the best to the worst."""

    RIGHT = "right", _("Right")
    INCOMPLETE = "incomplete", _("Incomplete")
    WRONG = "wrong", _("Wrong")
    HARMFUL = "harmful", _("Harmful")


SKIPPED = "skipped"
"""The verdict of a reading of somebody who is not offered the answer again."""


class Cause(models.TextChoices):
    """Why an answer is read."""

    RANDOM = "random", "Drawn at random"
    FLAGGED = "flagged", "Drawn because of a sign that it may be wrong"
    HAND = "hand", "Put in by hand"


class Reading(models.Model):
    """One reading of an answer, the first or the second, from when it is asked for; gone with it.

    ``day`` is the day of the answers that it was drawn from, None by hand. ``scores`` are in the
    order of the answer's statements; ``verdict`` is the worst, :data:`SKIPPED`, or empty before.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    reply = models.ForeignKey(
        "conversations.Reply", on_delete=models.CASCADE, related_name="readings"
    )
    number = models.PositiveSmallIntegerField(default=1)
    cause = models.CharField(max_length=16, choices=Cause.choices)
    day = models.DateField(null=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
    reader = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="readings"
    )
    taken_at = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=16, blank=True)
    scores = models.JSONField(default=list)
    remark = models.TextField(blank=True)
    done_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["reply", "number"], condition=~Q(verdict="skipped"), name="reading_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.verdict or 'reading'} of {self.reply_id}"

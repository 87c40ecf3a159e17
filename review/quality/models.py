"""Samples of answers, and the blind readings of each."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Score(models.TextChoices):
    """What a reader says of a sentence and its source, from the best to the worst."""

    RIGHT = "right", _("Right")
    INCOMPLETE = "incomplete", _("Incomplete")
    WRONG = "wrong", _("Wrong")
    HARMFUL = "harmful", _("Harmful")


SKIPPED = "skipped"
"""The verdict of a reading that its reader gave up: they are not offered the answer again."""


class Cause(models.TextChoices):
    """Why an answer is in the sample."""

    RANDOM = "random", _("Drawn at random")
    FLAGGED = "flagged", _("Drawn because of a sign that it may be wrong")
    HAND = "hand", _("Put in by hand")


class Sample(models.Model):
    """An answer that is read again by ``wanted`` people; gone with the reply.

    ``day`` is the day of the answers that it was drawn from, None where ``added_by`` put it in.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    reply = models.OneToOneField(
        "conversations.Reply", on_delete=models.CASCADE, related_name="sample"
    )
    cause = models.CharField(max_length=16, choices=Cause.choices)
    wanted = models.PositiveSmallIntegerField(default=1)
    day = models.DateField(null=True, db_index=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.cause} sample of {self.reply_id}"


class Reading(models.Model):
    """One person's reading of a sample: taken at ``taken_at``, ended at ``done_at``.

    ``scores`` are in the order of the answer's statements, ``verdict`` is the worst of them,
    :data:`SKIPPED`, or empty while the reader is at it.
    """

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="readings")
    reader = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="readings"
    )
    taken_at = models.DateTimeField()
    verdict = models.CharField(max_length=16, blank=True)
    scores = models.JSONField(default=list)
    remark = models.TextField(blank=True)
    done_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["done_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "reader"], name="reading_once_a_reader")
        ]

    def __str__(self) -> str:
        return f"{self.verdict or 'reading'} of {self.sample_id}"

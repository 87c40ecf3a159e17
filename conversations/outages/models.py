"""Times in which the model gave no answers."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q
from django.db.models.lookups import IsNull

from ieim.pipeline.ports import Cause


class Outage(models.Model):
    """A time in which turns had to wait for the model, from the first of them to an answer.

    ``cause`` and ``status`` (HTTP, None without one) are those of the last turn that had to wait,
    at ``seen_at``. ``ended_at`` is None while it lasts. ``notified_at`` and ``end_notified_at`` are
    when operators were sent the e-mails of its beginning and of its end; whoever sends one has the
    row until ``leased_until``.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cause = models.CharField(max_length=16, choices=[(cause.value, cause.value) for cause in Cause])
    status = models.PositiveSmallIntegerField(null=True)
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    notified_at = models.DateTimeField(null=True)
    end_notified_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-began_at"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                IsNull(F("ended_at"), True), condition=Q(ended_at=None), name="one_open_outage"
            )
        ]

    def __str__(self) -> str:
        return f"{self.cause} since {self.began_at}"

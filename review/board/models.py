"""Absences, what was shared out last, and the alerts that last."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Absence(models.Model):
    """Until when a colleague is away: nothing is assigned to them before."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="absence",
    )
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id} until {self.until}"


class SharedItem(models.Model):
    """An item of what a lead shared out last; ``version`` is the item's right after."""

    item = models.OneToOneField(
        "review.ReviewItem", on_delete=models.CASCADE, primary_key=True, related_name="shared"
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shared_out"
    )
    to = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="given_shares"
    )
    at = models.DateTimeField()
    version = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.item_id} to {self.to_id}"


class Alert(models.Model):
    """A cause for an alert, for as long as it lasts: then its row is deleted.

    ``cause`` is the kind with an item's id, or with a stage and a reason. ``mailed_at`` and
    ``called_at`` are when it was in an e-mail and in a call of the webhook. Whoever sends has the
    row until ``leased_until``.
    """

    cause = models.CharField(max_length=200, unique=True)
    began_at = models.DateTimeField()
    mailed_at = models.DateTimeField(null=True)
    called_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.cause

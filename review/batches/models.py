"""One decision on many items, carried out item by item in the background."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ieim.pipeline.canonical import DecimalDecoder, DecimalEncoder


class Batch(models.Model):
    """A decision on several items.

    ``action``, ``reason`` and ``payload`` are as for :func:`review.deciding.decide`; the last two
    are emptied once nothing is left to do. ``has_read`` says that the author has read the messages
    that a model refused to read, ``token`` is the prefix of a program's token. Reasons why an item
    is left out are in ``language``. Nothing takes effect before ``takes_effect_at``. Since
    ``undone_at`` the batch is taken back, by the lead ``undone_by`` or else by its author. A worker
    has it until ``leased_until``.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="batches"
    )
    action = models.CharField(max_length=16)
    reason = models.TextField(blank=True)
    payload = models.JSONField(default=dict, encoder=DecimalEncoder, decoder=DecimalDecoder)
    has_read = models.BooleanField(default=False)
    token = models.CharField(max_length=32, blank=True)
    language = models.CharField(max_length=8)
    created_at = models.DateTimeField(auto_now_add=True)
    takes_effect_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    finished_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.action} by {self.actor_id}"


class EntryState(models.TextChoices):
    """States of an item in a batch."""

    PENDING = "pending", _("Not decided yet")
    DECIDED = "decided", _("Decided")
    REFUSED = "refused", _("Left in the queue")
    UNDONE = "undone", _("Taken back")
    FINAL = "final", _("Could not be taken back")


class BatchEntry(models.Model):
    """An item of a batch; ``problem`` says why it was refused, or could not be taken back."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="entries")
    item = models.ForeignKey(
        "review.ReviewItem", on_delete=models.CASCADE, related_name="batch_entries"
    )
    decision = models.ForeignKey("review.Decision", null=True, on_delete=models.CASCADE)
    state = models.CharField(
        max_length=8, choices=EntryState.choices, default=EntryState.PENDING.value
    )
    problem = models.TextField(blank=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.item_id}: {self.state}"

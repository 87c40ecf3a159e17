"""What answers were made from, and the corrections that were sent to them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from ieim.audit.models import AppendOnlyModel
from ieim.knowledge.bundles.columns import ID_LIMIT


class Citation(models.Model):
    """A service that a reply was made from; written with the reply, gone with it.

    ``service_sha256`` names the version: the digest of the service's content as in
    :func:`conversations.corrections.citing.version`, whatever the release.
    """

    reply = models.ForeignKey(
        "conversations.Reply", on_delete=models.CASCADE, related_name="citations"
    )
    agency = models.CharField(max_length=ID_LIMIT)
    service = models.CharField(max_length=ID_LIMIT)
    service_sha256 = models.CharField(max_length=64)

    class Meta:
        indexes = [
            models.Index(fields=["agency", "service", "service_sha256"], name="citation_of_service")
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["reply", "agency", "service"], name="citation_once_a_reply"
            )
        ]

    def __str__(self) -> str:
        return f"{self.agency}/{self.service} in {self.reply_id}"


class CorrectionNotice(models.Model):
    """A correction as it was written and confirmed: once, for many answers.

    It goes to the answers made from ``agency``'s ``service`` until it was written: of the version
    ``service_sha256`` (blank: of any), never of ``other_than_sha256`` (blank: of none), and of
    ``turns`` only (UUIDs as text; None: of all), which were ``total`` at that moment. ``sent_at``
    is None until all that are still there have it; ``sent``, ``repeated`` (had these words already)
    and ``gone`` (erased meanwhile) then add up to ``total``.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agency = models.CharField(max_length=ID_LIMIT)
    service = models.CharField(max_length=ID_LIMIT)
    service_sha256 = models.CharField(max_length=64, blank=True)
    other_than_sha256 = models.CharField(max_length=64, blank=True, default="")
    turns = models.JSONField(null=True)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    total = models.PositiveIntegerField()
    sent = models.PositiveIntegerField(default=0)
    repeated = models.PositiveIntegerField(default=0)
    gone = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["agency", "service", "-created_at"], name="correction_of_service")
        ]

    def __str__(self) -> str:
        return f"correction of {self.agency}/{self.service}"


class Correction(AppendOnlyModel):
    """A correction under the answer that it corrects, in the words of its ``notice``.

    Never changed; gone when its session is erased. The same words come once to a turn.
    """

    session = models.ForeignKey(
        "conversations.Session", on_delete=models.CASCADE, related_name="corrections"
    )
    turn = models.ForeignKey(
        "conversations.Turn", on_delete=models.CASCADE, related_name="corrections"
    )
    notice = models.ForeignKey(
        CorrectionNotice, on_delete=models.PROTECT, related_name="corrections"
    )
    text_sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "text_sha256"], name="correction_once_a_turn")
        ]

    def __str__(self) -> str:
        return f"correction of {self.turn_id}"

"""What models were asked with, kept by digest, and what they were asked in vain."""

from __future__ import annotations

from django.db import models

from ieim.audit.models import AppendOnlyModel


class Artifact(AppendOnlyModel):
    """A prompt or a schema, stored when it was first used.

    ``sha256`` is the lower-case hex digest of ``content``: of a prompt persona and directive with
    one NUL between them (UTF-8), of a schema its RFC 8785 bytes.
    """

    sha256 = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()

    def __str__(self) -> str:
        return self.sha256


class Unused(models.Model):
    """A call that was made ahead of its stage, and whose answer nobody needed.

    Of the answer nothing is kept but what it cost: ``tokens`` as of an attempt. The server's own
    counts are null where it gave none, or where the turn did not wait for the answer.
    """

    turn = models.ForeignKey("conversations.Turn", on_delete=models.CASCADE, related_name="unused")
    contract = models.CharField(max_length=64)
    request_sha256 = models.CharField(max_length=64)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    tokens = models.PositiveIntegerField()
    duration_ms = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["created_at"], name="unused_day")]

    def __str__(self) -> str:
        return f"{self.contract}, in vain"

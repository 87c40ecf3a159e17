"""What models were asked with, kept by digest."""

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

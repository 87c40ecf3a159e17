"""Releases and when they became current.

Releases and publications are written once: the models refuse, and so do triggers in the database.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from ieim.audit.models import AppendOnlyModel


class Release(AppendOnlyModel):
    """An immutable snapshot of the draft.

    ``content`` is :attr:`ieim.knowledge.bundles.bundle.Bundle.content`, ``sha256`` the lower-case
    hex digest over its canonical JSON (RFC 8785). Two releases may have the same content.
    """

    number = models.PositiveIntegerField(primary_key=True)
    sha256 = models.CharField("SHA-256", max_length=64)
    content = models.JSONField()
    note = models.TextField(blank=True, help_text="What changed, for other editors.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"release {self.number}"


class Publication(AppendOnlyModel):
    """The moment from which a release is current; the newest publication decides.

    To go back to an earlier release is to publish it again.
    """

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="publications")
    published_at = models.DateTimeField(auto_now_add=True)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"publication of release {self.release_id}"

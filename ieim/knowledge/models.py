"""The releases that turns are pinned to, their vectors, and the notices that stages read.

Releases and publications are written once: the models refuse, and so do triggers in the database.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from ieim.audit.models import AppendOnlyModel
from ieim.knowledge.bundles.columns import ID_LIMIT


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


class Vector(models.Model):
    """The vector of one text, which every release that has the text uses.

    ``sha256`` is the lower-case hex digest of the text's UTF-8, ``value`` float32 numbers, little
    end first. What was trained with vectors is kept here too, under the digest of its name.
    Deleting rows loses nothing but time.
    """

    embedder = models.CharField(max_length=100)
    sha256 = models.CharField("SHA-256", max_length=64)
    value = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["embedder", "sha256"], name="one_vector_a_text")
        ]

    def __str__(self) -> str:
        return f"vector {self.sha256[:12]} of {self.embedder}"


class Directive(models.Model):
    """A notice about an agency for a while, such as "The office is closed this week".

    It applies from ``starts_at`` until ``ends_at`` (half-open), at once and without a release: the
    stages read it as ``runtime_directive``, citizens read it in the reply unless it is
    ``model_only``. A blank ``agency`` is every agency. To end one early is to move ``ends_at``;
    none is ever removed.
    """

    agency = models.CharField(max_length=ID_LIMIT, blank=True)
    text = models.CharField(max_length=500)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    model_only = models.BooleanField(default=False, db_default=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-starts_at", "-id"]
        indexes = [models.Index(fields=["ends_at", "starts_at"], name="directive_when")]
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gte=F("starts_at")), name="directive_ends_after_start"
            )
        ]

    def __str__(self) -> str:
        return self.text

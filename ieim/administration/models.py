"""The stored organisation settings: a row a section, and the logos."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Section(models.Model):
    """One section of the settings, such as ``contacts``; without a row nothing is set there.

    ``content`` is ``{field: text}`` of a form of :mod:`ieim.administration.forms`.
    ``version`` counts the changes; a row of version 0 is about to be written for the first time.
    ``sha256`` is of the content: a reader compares it with what it has cached.
    """

    name = models.CharField(max_length=40, primary_key=True)
    content = models.JSONField(default=dict)
    sha256 = models.CharField(max_length=64)
    version = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True
    )

    class Meta:
        ordering = ["name"]
        default_permissions = ("change",)

    def __str__(self) -> str:
        return self.name


class Logo(models.Model):
    """A picture that was checked, by the digest of its bytes; it is never changed."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    media_type = models.CharField(max_length=40)
    content = models.BinaryField()
    added_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.sha256

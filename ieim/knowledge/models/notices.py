"""Notices: what is said about an agency for a while."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from ieim.knowledge.bundles.columns import ID_LIMIT


class Directive(models.Model):
    """A notice about an agency for a while, such as "The office is closed this week".

    It applies from ``starts_at`` until ``ends_at`` (half-open), at once and without a release: the
    stages read it as ``runtime_directive``, citizens read it in the reply. A blank ``agency`` is
    every agency. To end one early is to move ``ends_at``; none is ever removed.
    """

    agency = models.CharField(max_length=ID_LIMIT, blank=True)
    text = models.CharField(max_length=500)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
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

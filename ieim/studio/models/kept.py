"""What editors keep beside the draft: golden questions and the history of changes."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ieim.audit.models import AppendOnlyModel
from ieim.knowledge.bundles.columns import ID_LIMIT


class GoldenQuestion(models.Model):
    """A question whose right outcome a person vouched for: what a new release is tried on.

    ``case`` is an evaluation case (``ieim/studio/evaluation/cases.py``), its texts redacted;
    ``name`` is the case's id, so that the same decision makes one question.
    """

    name = models.CharField(max_length=200, unique=True)
    case = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-created_at", "name"]

    def __str__(self) -> str:
        return self.name


class Change(AppendOnlyModel):
    """One change of one entry of the draft: who, when, and what.

    ``entry`` is the natural id as in a bundle, its parts joined by a space; ``agency`` is empty for
    labels. ``fields`` is ``{column: [before, after]}``; None stands for an entry that was not there
    or is no more.
    """

    class Kind(models.TextChoices):
        """What happened."""

        ADDED = "added", _("added")
        CHANGED = "changed", _("changed")
        REMOVED = "removed", _("removed")

    class Source(models.TextChoices):
        """How it came."""

        ADMIN = "admin", _("by hand")
        FILE = "file", _("from a file")
        API = "api", _("over the API")
        BUNDLE = "bundle", _("from a bundle")

    table = models.CharField(max_length=16)
    entry = models.CharField(max_length=3 * ID_LIMIT + 20)
    agency = models.CharField(max_length=ID_LIMIT, blank=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    source = models.CharField(max_length=8, choices=Source.choices)
    fields = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["table", "entry", "-id"], name="change_of_entry")]

    def __str__(self) -> str:
        return f"{self.table} {self.entry}: {self.kind}"

"""What people keep beside the draft: scopes, golden questions, notices, the history of changes."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from ieim.audit.models import AppendOnlyModel
from ieim.knowledge.columns import ID_LIMIT

EVERY_AGENCY = "*"


class AgencyScope(models.Model):
    """An agency that a member of staff works for: what they may see and change.

    ``agency`` is an agency's id, or :data:`EVERY_AGENCY`. Staff without a row see nothing of any
    agency.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="agency_scopes"
    )
    agency = models.CharField(max_length=200)

    class Meta:
        ordering = ["user_id", "agency"]
        constraints = [
            models.UniqueConstraint(fields=["user", "agency"], name="scope_once_an_agency")
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.agency}"


class GoldenQuestion(models.Model):
    """A question whose right outcome a person vouched for: what a new release is tried on.

    ``case`` is an evaluation case (``conversations/evaluation/cases.py``), its texts redacted;
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


class Change(AppendOnlyModel):
    """One change of one entry of the draft: who, when, and what.

    ``entry`` is the natural id as in a bundle, its parts joined by a space; ``agency`` is empty for
    labels. ``fields`` is ``{column: [before, after]}``; None stands for an entry that was not there
    or is no more.
    """

    class Kind(models.TextChoices):
        """What happened."""

        ADDED = "added", "added"
        CHANGED = "changed", "changed"
        REMOVED = "removed", "removed"

    class Source(models.TextChoices):
        """How it came."""

        ADMIN = "admin", "by hand"
        FILE = "file", "from a file"
        API = "api", "over the API"
        BUNDLE = "bundle", "from a bundle"

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

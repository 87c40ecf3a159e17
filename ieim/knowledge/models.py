"""The draft that editors change, and the releases that turns are pinned to.

Draft rows carry the natural ids of a bundle; ``position`` keeps a bundle's order, which is the
order of the index. Releases and publications are written once: the models refuse, and so do
triggers in the database.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from ieim.audit.models import AppendOnlyModel
from ieim.knowledge.checks import (
    COLUMNS,
    ID_LIMIT,
    LINK_LIMIT,
    NAME_LIMIT,
    TEXT_LIMIT,
    VALUE_LIMIT,
    check_row,
)
from ieim.knowledge.rows import Row, Table
from ieim.pipeline.knowledge import LABEL_SETS

EVERY_AGENCY = "*"
_LIST_HELP = 'A list of texts: ["first", "second"].'


class DraftEntry(models.Model):
    """One entry of the draft, with the rules that a bundle's rows have."""

    table: ClassVar[Table]
    position = models.PositiveIntegerField(
        default=0, help_text="Entries are listed in this order, lowest first."
    )

    class Meta:
        abstract = True

    def clean(self) -> None:
        """Raise ValidationError for every column that a bundle could not have like this."""
        for field in self._meta.fields:
            # A form gives None for a list that was emptied.
            if isinstance(field, models.JSONField) and getattr(self, field.name) is None:
                setattr(self, field.name, field.get_default())
        # "agency" is compared by its natural id, which is what the column stores.
        columns = {name: f"{name}_id" if name == "agency" else name for name in COLUMNS[self.table]}
        values = {name: getattr(self, attribute) for name, attribute in columns.items()}
        _, problems = check_row(self.table, Row(str(self.pk), None, values))
        if problems:
            raise ValidationError([problem.message for problem in problems])


class Agency(DraftEntry):
    """One public body of the draft."""

    table = "agencies"

    id = models.CharField(
        primary_key=True,
        max_length=ID_LIMIT,
        help_text="Short and lasting, such as the usual abbreviation. It cannot be changed later.",
    )
    name = models.CharField(max_length=NAME_LIMIT)
    path = models.CharField(
        max_length=LINK_LIMIT,
        blank=True,
        help_text="The agency's page (http:// or https://), or where it is to be found, in words.",
    )
    description = models.TextField(
        max_length=TEXT_LIMIT,
        blank=True,
        help_text="What it is for, in words that citizens use: the search reads it.",
    )

    class Meta:
        ordering = ["position", "id"]
        verbose_name_plural = "agencies"

    def __str__(self) -> str:
        return self.name


class Category(DraftEntry):
    """One entry of an agency's dictionary."""

    table = "dictionary"

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="categories")
    key = models.CharField(max_length=ID_LIMIT, help_text="Unique within the agency.")
    value = models.CharField(
        max_length=VALUE_LIMIT, blank=True, help_text="The category as citizens would say it."
    )
    keywords = models.JSONField(
        default=list,
        blank=True,
        help_text=f"Other words that citizens use for it. {_LIST_HELP}",
    )

    class Meta:
        ordering = ["position", "id"]
        verbose_name = "dictionary entry"
        verbose_name_plural = "dictionary entries"
        constraints = [
            models.UniqueConstraint(fields=["agency", "key"], name="knowledge_category_once")
        ]

    def __str__(self) -> str:
        return f"{self.agency_id}: {self.value or self.key}"


class Service(DraftEntry):
    """One entry of the service index."""

    table = "services"

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="services")
    key = models.CharField(max_length=ID_LIMIT, help_text="Unique within the agency.")
    name = models.CharField(max_length=NAME_LIMIT, help_text="What the citizen gets or does.")
    path = models.CharField(
        max_length=LINK_LIMIT,
        blank=True,
        help_text="The service's page (http:// or https://), or where it is to be found, in words.",
    )
    overview = models.TextField(
        max_length=TEXT_LIMIT, blank=True, help_text="What it is, in a few short sentences."
    )
    applicability_summary = models.TextField(
        max_length=TEXT_LIMIT, blank=True, help_text="Who it is for."
    )
    categories = models.JSONField(
        default=list,
        blank=True,
        help_text=f"Keys of entries in the same agency's dictionary. {_LIST_HELP}",
    )
    requirements = models.JSONField(
        default=list, blank=True, help_text=f"What the citizen needs. {_LIST_HELP}"
    )
    fees = models.TextField(max_length=TEXT_LIMIT, blank=True)
    processing_time = models.TextField(max_length=TEXT_LIMIT, blank=True)
    how_to_apply = models.JSONField(
        default=list, blank=True, help_text=f"The steps, in order. {_LIST_HELP}"
    )
    contact = models.TextField(max_length=TEXT_LIMIT, blank=True)
    url = models.CharField(
        max_length=LINK_LIMIT,
        blank=True,
        help_text="Where to apply; must begin with http:// or https://.",
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["agency", "key"], name="knowledge_service_once")
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Check the columns, and that the agency's dictionary has the categories."""
        super().clean()
        known = Category.objects.filter(agency=self.agency_id, key__in=self.categories)
        unknown = set(self.categories).difference(known.values_list("key", flat=True))
        if unknown:
            raise ValidationError(
                {"categories": f"not in the agency's dictionary: {', '.join(sorted(unknown))}"}
            )


class Label(DraftEntry):
    """One canonical code of a label set."""

    table = "labels"

    set = models.CharField(
        max_length=ID_LIMIT, choices=[(name, name.replace("_", " ")) for name in LABEL_SETS]
    )
    code = models.CharField(
        max_length=ID_LIMIT, help_text="What the model answers and reports count; it should last."
    )
    name = models.CharField(max_length=NAME_LIMIT)
    description = models.TextField(
        max_length=TEXT_LIMIT, blank=True, help_text="When the label applies: the model reads it."
    )
    threshold = models.DecimalField(
        max_digits=3,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="A person looks when the model is less sure than this (0.00 to 1.00).",
    )
    effect = models.CharField(
        max_length=ID_LIMIT,
        blank=True,
        help_text="Risk flags: none, hold or escalate. Urgencies: target minutes. Others: blank.",
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["set", "code"], name="knowledge_label_once")]

    def __str__(self) -> str:
        return f"{self.set}: {self.name}"


class Release(AppendOnlyModel):
    """An immutable snapshot of the draft.

    ``content`` is :attr:`ieim.knowledge.bundle.Bundle.content`, ``sha256`` the lower-case hex
    digest over its canonical JSON (RFC 8785). Two releases may have the same content.
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


class AgencyScope(models.Model):
    """An agency that a member of staff works for: what they may see and change.

    ``agency`` is an agency's id, or :data:`EVERY_AGENCY`. Staff without a row see what belongs to
    no agency yet, and nothing else.
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

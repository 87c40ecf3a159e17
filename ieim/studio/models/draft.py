"""The draft that editors change.

Its rows carry the natural ids of a bundle; ``position`` keeps a bundle's order, which is the order
of the index. ``version`` counts the changes of a row: whoever changes it says which one they saw.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from ieim.knowledge.bundles.columns import (
    EXAMPLE_LIMIT,
    ID_LIMIT,
    KINDS,
    LINK_LIMIT,
    NAME_LIMIT,
    TEXT_LIMIT,
    VALUE_LIMIT,
)
from ieim.knowledge.bundles.rows import Table
from ieim.pipeline.knowledge import LABEL_SETS
from ieim.studio.models.words import choices


class DraftEntry(models.Model):
    """One entry of the draft. Its rules are those of a bundle's rows; editing holds them."""

    table: ClassVar[Table]
    position = models.PositiveIntegerField(
        default=0, help_text=_("Entries are listed in this order, lowest first.")
    )
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True


class Agency(DraftEntry):
    """One public body of the draft."""

    table = "agencies"

    id = models.CharField(
        primary_key=True,
        max_length=ID_LIMIT,
        help_text=_(
            "Short and lasting, such as the usual abbreviation. It cannot be changed later."
        ),
    )
    name = models.CharField(max_length=NAME_LIMIT)
    path = models.CharField(
        max_length=LINK_LIMIT,
        blank=True,
        help_text=_(
            "The agency's page (http:// or https://), or where it is to be found, in words."
        ),
    )
    description = models.TextField(
        max_length=TEXT_LIMIT,
        blank=True,
        help_text=_("What it is for, in words that citizens use: the search reads it."),
    )

    class Meta:
        ordering = ["position", "id"]
        verbose_name_plural = _("agencies")

    def __str__(self) -> str:
        return self.name


class Category(DraftEntry):
    """One entry of an agency's dictionary."""

    table = "dictionary"

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="categories")
    key = models.CharField(max_length=ID_LIMIT, help_text=_("Unique within the agency."))
    value = models.CharField(
        max_length=VALUE_LIMIT, blank=True, help_text=_("The category as citizens would say it.")
    )
    keywords = models.JSONField(
        default=list,
        blank=True,
        help_text=_("Other words that citizens use for it."),
    )

    class Meta:
        ordering = ["position", "id"]
        verbose_name = _("dictionary entry")
        verbose_name_plural = _("dictionary entries")
        constraints = [
            models.UniqueConstraint(fields=["agency", "key"], name="knowledge_category_once")
        ]

    def __str__(self) -> str:
        return f"{self.agency_id}: {self.value or self.key}"


class Service(DraftEntry):
    """One entry of the service index."""

    table = "services"

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="services")
    key = models.CharField(max_length=ID_LIMIT, help_text=_("Unique within the agency."))
    name = models.CharField(max_length=NAME_LIMIT, help_text=_("What the citizen gets or does."))
    path = models.CharField(
        max_length=LINK_LIMIT,
        blank=True,
        help_text=_(
            "The service's page (http:// or https://), or where it is to be found, in words."
        ),
    )
    overview = models.TextField(
        max_length=TEXT_LIMIT, blank=True, help_text=_("What it is, in a few short sentences.")
    )
    applicability_summary = models.TextField(
        max_length=TEXT_LIMIT, blank=True, help_text=_("Who it is for.")
    )
    categories = models.JSONField(
        default=list,
        blank=True,
        help_text=_("Keys of entries in the same agency's dictionary."),
    )
    requirements = models.JSONField(
        default=list, blank=True, help_text=_("What the citizen needs.")
    )
    fees = models.TextField(max_length=TEXT_LIMIT, blank=True)
    processing_time = models.TextField(max_length=TEXT_LIMIT, blank=True)
    how_to_apply = models.JSONField(default=list, blank=True, help_text=_("The steps, in order."))
    contact = models.TextField(max_length=TEXT_LIMIT, blank=True)
    url = models.CharField(
        max_length=LINK_LIMIT,
        blank=True,
        help_text=_("Where to apply; must begin with http:// or https://."),
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["agency", "key"], name="knowledge_service_once")
        ]

    def __str__(self) -> str:
        return self.name


class Label(DraftEntry):
    """One canonical code of a label set."""

    table = "labels"

    set = models.CharField(max_length=ID_LIMIT, choices=choices(LABEL_SETS))
    code = models.CharField(
        max_length=ID_LIMIT,
        help_text=_("What the model answers and reports count; it should last."),
    )
    name = models.CharField(max_length=NAME_LIMIT)
    description = models.TextField(
        max_length=TEXT_LIMIT,
        blank=True,
        help_text=_(
            "When the label applies: the model reads it. Of a risk flag that escalates, what "
            "citizens are shown at once: whom to call."
        ),
    )
    threshold = models.DecimalField(
        max_digits=3,
        decimal_places=2,
        null=True,
        blank=True,
        help_text=_("A person looks when the model is less sure than this (0.00 to 1.00)."),
    )
    effect = models.CharField(
        max_length=ID_LIMIT,
        blank=True,
        help_text=_(
            "Risk flags: none, hold or escalate. Urgencies: target minutes. Others: blank."
        ),
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["set", "code"], name="knowledge_label_once")]

    def __str__(self) -> str:
        return f"{self.set}: {self.name}"


class Translation(DraftEntry):
    """The texts of one agency, dictionary entry or service in one more language.

    ``category`` or ``service`` is the key within the agency; with neither it is the agency itself.
    A blank column is not translated: the original stands in for it.
    """

    table = "translations"

    language = models.CharField(max_length=8, help_text=_("ISO 639-1, such as fr."))
    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="translations")
    category = models.CharField(max_length=ID_LIMIT, blank=True)
    service = models.CharField(max_length=ID_LIMIT, blank=True)
    name = models.CharField(
        max_length=VALUE_LIMIT, blank=True, help_text=_("A name, or a category as citizens say it.")
    )
    description = models.TextField(
        max_length=TEXT_LIMIT, blank=True, help_text=_("An agency's description.")
    )
    keywords = models.JSONField(default=list, blank=True, help_text=_("A category's."))
    overview = models.TextField(max_length=TEXT_LIMIT, blank=True)
    applicability_summary = models.TextField(max_length=TEXT_LIMIT, blank=True)
    requirements = models.JSONField(default=list, blank=True)
    fees = models.TextField(max_length=TEXT_LIMIT, blank=True)
    processing_time = models.TextField(max_length=TEXT_LIMIT, blank=True)
    how_to_apply = models.JSONField(default=list, blank=True)
    contact = models.TextField(max_length=TEXT_LIMIT, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["language", "agency", "category", "service"],
                name="knowledge_translation_once",
            )
        ]

    def __str__(self) -> str:
        return " ".join(filter(None, [self.language, self.agency_id, self.category, self.service]))


class HelpLine(DraftEntry):
    """What citizens are shown at once for a risk flag that escalates, in one more language.

    In the language of the knowledge that is the description of the flag's label.
    """

    table = "help_lines"

    language = models.CharField(max_length=8, help_text=_("ISO 639-1, such as fr."))
    flag = models.CharField(max_length=ID_LIMIT, help_text=_("The code of a risk flag's label."))
    text = models.TextField(
        max_length=TEXT_LIMIT,
        help_text=_("Whom to call, with the same numbers as in the label's description."),
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["language", "flag"], name="knowledge_help_line_once")
        ]

    def __str__(self) -> str:
        return f"{self.language} {self.flag}"


class RiskExample(DraftEntry):
    """A text that teaches what a crisis is, beside those that are shipped."""

    table = "risk_examples"

    language = models.CharField(max_length=8, help_text=_("ISO 639-1, such as fr."))
    text = models.CharField(
        max_length=EXAMPLE_LIMIT,
        help_text=_("As people write it, in a sentence or two; nobody's own words or data."),
    )
    flag = models.CharField(max_length=ID_LIMIT, help_text=_("The code of a risk flag's label."))
    kind = models.CharField(
        max_length=ID_LIMIT,
        choices=choices(KINDS),
        help_text=_("Danger: this shall be flagged. Near miss: it only sounds like it."),
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["language", "text"], name="knowledge_example_once")
        ]

    def __str__(self) -> str:
        return f"{self.language} {self.text[:80]}"

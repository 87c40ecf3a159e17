"""The draft that editors change: a table for each of a bundle.

Rows of the draft carry the natural ids of a bundle; ``position`` keeps a bundle's order, which is
the order of the index. ``version`` counts the changes of a row: who changes it says which one they
saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ieim.knowledge.bundles.columns import (
    EXAMPLE_LIMIT,
    GUIDANCE_LIMIT,
    ID_LIMIT,
    KINDS,
    LINK_LIMIT,
    NAME_LIMIT,
    TEXT_LIMIT,
    VALUE_LIMIT,
)
from ieim.knowledge.bundles.questions import QUESTION_LIMIT
from ieim.knowledge.bundles.rows import Table
from ieim.knowledge.bundles.situations import DESCRIPTION_LIMIT
from ieim.pipeline.knowledge import (
    CASES,
    CIRCUMSTANCES,
    LABEL_SETS,
    QUESTION_ORIGINS,
    SITUATION_KINDS,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

_CHOICES: dict[str, StrPromise] = {
    "intents": _("intents"),
    "product_lines": _("product lines"),
    "urgencies": _("urgencies"),
    "risk_flags": _("risk flags"),
    "entity_types": _("entity types"),
    "key_types": _("key types"),
    "danger": _("danger"),
    "near_miss": _("near miss"),
    "greeting": _("greeting"),
    "thanks": _("thanks"),
    "off_topic": _("off topic"),
    "unclear": _("unclear"),
    "abuse": _("abuse"),
    "about_assistant": _("about the assistant"),
    "about_office": _("about the office"),
    "condolence": _("condolence: after a death"),
    "worry": _("worry: in danger, or with somebody ill"),
    "life": _("life event"),
    "business": _("business event"),
    "editor": _("an editor"),
    "citizen": _("a citizen"),
    "model": _("a model"),
    "import": _("another system"),
}


def _choices(names: Iterable[str]) -> list[tuple[str, StrPromise]]:
    """Return the choices of a column that holds one of ``names``."""
    return [(name, _CHOICES[name]) for name in names]


def _id(help_text: StrPromise) -> models.CharField[Any, str]:
    return models.CharField(max_length=ID_LIMIT, help_text=help_text)


def _language() -> models.CharField[Any, str]:
    return models.CharField(max_length=8, help_text=_("ISO 639-1, such as fr."))


def _link(help_text: StrPromise) -> models.CharField[Any, str]:
    return models.CharField(max_length=LINK_LIMIT, blank=True, help_text=help_text)


def _text(help_text: StrPromise | str = "") -> models.TextField[Any, str]:
    return models.TextField(max_length=TEXT_LIMIT, blank=True, help_text=help_text)


def _list(help_text: StrPromise | str = "") -> models.JSONField[Any, Any]:
    return models.JSONField(default=list, blank=True, help_text=help_text)


def _once(name: str, *fields: str, condition: Q | None = None) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=fields, condition=condition, name=name)


def _lines() -> models.JSONField[list[str], list[str]]:
    """Return a column of texts that a table has had later: entries have none at first."""
    return models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()), blank=True
    )


class DraftEntry(models.Model):
    """One entry of the draft. Its rules are those of a bundle's rows; editing holds them."""

    table: ClassVar[Table]
    position = models.PositiveIntegerField(
        default=0, help_text=_("Entries are listed in this order, lowest first.")
    )
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True
        ordering = ["position", "id"]


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
    path = _link(
        _("The agency's page (http:// or https://), or where it is to be found, in words.")
    )
    description = _text(_("What it is for, in words that citizens use: the search reads it."))
    places = _lines()
    hours = _lines()

    class Meta(DraftEntry.Meta):
        verbose_name_plural = _("agencies")

    def __str__(self) -> str:
        return self.name


class Category(DraftEntry):
    """One entry of an agency's dictionary."""

    table = "dictionary"

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="categories")
    key = _id(_("Unique within the agency."))
    value = models.CharField(
        max_length=VALUE_LIMIT, blank=True, help_text=_("The category as citizens would say it.")
    )
    keywords = _list(_("Other words that citizens use for it."))

    class Meta(DraftEntry.Meta):
        verbose_name = _("dictionary entry")
        verbose_name_plural = _("dictionary entries")
        constraints = [_once("knowledge_category_once", "agency", "key")]

    def __str__(self) -> str:
        return f"{self.agency_id}: {self.value or self.key}"


class Service(DraftEntry):
    """One entry of the service index."""

    table = "services"

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="services")
    key = _id(_("Unique within the agency."))
    name = models.CharField(max_length=NAME_LIMIT, help_text=_("What the citizen gets or does."))
    path = _link(
        _("The service's page (http:// or https://), or where it is to be found, in words.")
    )
    overview = _text(_("What it is, in a few short sentences."))
    applicability_summary = _text(_("Who it is for."))
    categories = _list(_("Keys of entries in the same agency's dictionary."))
    requirements = _list(_("What the citizen needs."))
    fees = _text()
    processing_time = _text()
    how_to_apply = _list(_("The steps, in order."))
    contact = _text()
    url = _link(_("Where to apply; must begin with http:// or https://."))
    next_services = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        help_text=_(
            "What comes next, as agency/key, offered at the end of an answer. Blank: what the "
            "steps and requirements name. A hyphen alone: nothing."
        ),
    )
    deadline_days = models.CharField(
        max_length=4,
        blank=True,
        db_default="",
        default="",
        help_text=_(
            "Within how many days of the event it has to be asked for: who wishes several things "
            "is shown what presses first. Blank: nothing presses."
        ),
    )
    read_on = models.CharField(
        max_length=10,
        blank=True,
        db_default="",
        default="",
        help_text=_(
            "The day on which the page at the link said this, as 2026-11-29: citizens see it "
            "behind the source. Blank: nothing is said."
        ),
    )
    amounts = _lines()
    processing_days = models.CharField(
        max_length=20,
        blank=True,
        db_default="",
        default="",
        help_text=_(
            "The days that it takes, as 14, 5-10 or 5-10 working: citizens read them in their own "
            "language where the text above does not say it."
        ),
    )
    places = _lines()
    hours = _lines()

    class Meta(DraftEntry.Meta):
        constraints = [_once("knowledge_service_once", "agency", "key")]

    def __str__(self) -> str:
        return self.name


class Label(DraftEntry):
    """One canonical code of a label set."""

    table = "labels"

    set = models.CharField(max_length=ID_LIMIT, choices=_choices(LABEL_SETS))
    code = _id(_("What the model answers and reports count; it should last."))
    name = models.CharField(max_length=NAME_LIMIT)
    description = _text(
        _(
            "When the label applies: the model reads it. Of a risk flag that escalates, what "
            "citizens are shown at once: whom to call."
        )
    )
    threshold = models.DecimalField(
        max_digits=3,
        decimal_places=2,
        null=True,
        blank=True,
        help_text=_(
            "Caseworkers see the label as unsure where the model is less sure than this (0.00 to "
            "1.00), and an unsure urgency puts no item off. It holds no answer back."
        ),
    )
    effect = models.CharField(
        max_length=ID_LIMIT,
        blank=True,
        help_text=_(
            "Risk flags: none, hold or escalate. Urgencies: target minutes. Entity types: mask, "
            "where the value has to be masked. Others: blank."
        ),
    )

    class Meta(DraftEntry.Meta):
        constraints = [_once("knowledge_label_once", "set", "code")]

    def __str__(self) -> str:
        return f"{self.set}: {self.name}"


class Translation(DraftEntry):
    """The texts of one agency, dictionary entry, service or situation in one more language.

    ``category`` or ``service`` is the key within the agency; with neither it is the agency itself.
    One of a situation has none of them. A blank column is not translated: the original stands in
    for it. ``sources`` has the digest of each original text that a column was made from
    (:mod:`ieim.studio.drafts.translations`).
    """

    table = "translations"

    language = _language()
    agency = models.ForeignKey(
        Agency, on_delete=models.CASCADE, related_name="translations", null=True, blank=True
    )
    category = models.CharField(max_length=ID_LIMIT, blank=True)
    service = models.CharField(max_length=ID_LIMIT, blank=True)
    situation = models.CharField(
        max_length=ID_LIMIT,
        blank=True,
        default="",
        db_default="",
        help_text=_("The key of a situation, instead of an agency."),
    )
    name = models.CharField(
        max_length=VALUE_LIMIT, blank=True, help_text=_("A name, or a category as citizens say it.")
    )
    description = _text(_("An agency's or a situation's."))
    keywords = _list(_("A category's."))
    overview = _text()
    applicability_summary = _text()
    requirements = _list()
    fees = _text()
    processing_time = _text()
    how_to_apply = _list()
    contact = _text()
    conditions = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()), blank=True
    )
    sources = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), editable=False
    )

    class Meta(DraftEntry.Meta):
        constraints = [
            _once("knowledge_translation_once", "language", "agency", "category", "service"),
            _once(
                "knowledge_situation_translation_once",
                "language",
                "situation",
                condition=Q(agency=None),
            ),
        ]

    def __str__(self) -> str:
        keys = [self.language, self.agency_id, self.category, self.service, self.situation]
        return " ".join(filter(None, keys))


class HelpLine(DraftEntry):
    """What citizens are shown at once for a risk flag that escalates, in one more language.

    In the language of the knowledge that is the description of the flag's label.
    """

    table = "help_lines"

    language = _language()
    flag = _id(_("The code of a risk flag's label."))
    text = models.TextField(
        max_length=TEXT_LIMIT,
        help_text=_("Whom to call, with the same numbers as in the label's description."),
    )

    class Meta(DraftEntry.Meta):
        constraints = [_once("knowledge_help_line_once", "language", "flag")]

    def __str__(self) -> str:
        return f"{self.language} {self.flag}"


class RiskExample(DraftEntry):
    """A text that teaches what a crisis is, beside those that are shipped."""

    table = "risk_examples"

    language = _language()
    text = models.CharField(
        max_length=EXAMPLE_LIMIT,
        help_text=_("As people write it, in a sentence or two; nobody's own words or data."),
    )
    flag = _id(_("The code of a risk flag's label."))
    kind = models.CharField(
        max_length=ID_LIMIT,
        choices=_choices(KINDS),
        help_text=_("Danger: this shall be flagged. Near miss: it only sounds like it."),
    )

    class Meta(DraftEntry.Meta):
        constraints = [_once("knowledge_example_once", "language", "text")]

    def __str__(self) -> str:
        return f"{self.language} {self.text[:80]}"


class CaseText(DraftEntry):
    """The text of one case in one language; without it the shipped text is used."""

    table = "texts"

    case = models.CharField(
        max_length=ID_LIMIT,
        choices=_choices((*CASES, *CIRCUMSTANCES)),
        help_text=_("What the message is. Unclear is also what nothing else fits."),
    )
    language = _language()
    text = models.TextField(
        max_length=GUIDANCE_LIMIT,
        help_text=_(
            "Two or three short sentences: what people can ask here, and that they may. Of "
            "condolence and worry one or two, which stand before the answer. In a paragraph of its "
            "own {contacts} stands for the contacts and opening hours of the settings."
        ),
    )

    class Meta(DraftEntry.Meta):
        constraints = [_once("knowledge_case_text_once", "case", "language")]

    def __str__(self) -> str:
        return f"{self.case} {self.language}"


class Situation(DraftEntry):
    """A life or business event, and the services that it leads to, in their order.

    ``services`` are lines, ``agency/key`` or ``agency/key | condition``.
    """

    table = "situations"

    key = _id(_("Short and lasting, such as moving."))
    kind = models.CharField(
        max_length=ID_LIMIT,
        choices=_choices(SITUATION_KINDS),
        help_text=_("Whose it is: a person’s or a business’s."),
    )
    name = models.CharField(max_length=NAME_LIMIT, help_text=_("What has happened, or will."))
    description = models.TextField(
        max_length=DESCRIPTION_LIMIT,
        blank=True,
        help_text=_("What it is, in a sentence or two: the model reads it."),
    )
    services = _list(_("What to do, in order."))

    class Meta(DraftEntry.Meta):
        constraints = [_once("knowledge_situation_once", "key")]

    def __str__(self) -> str:
        return self.name


class ExampleQuestion(DraftEntry):
    """A question that a service answers, as people ask it, or what they say in a situation: by it
    the search finds the one or the other.

    One of a situation has neither agency nor service.
    """

    table = "questions"

    agency = models.ForeignKey(
        Agency, on_delete=models.CASCADE, related_name="questions", null=True, blank=True
    )
    service = models.CharField(
        max_length=ID_LIMIT, blank=True, help_text=_("The key of the service within the agency.")
    )
    situation = models.CharField(
        max_length=ID_LIMIT,
        blank=True,
        default="",
        db_default="",
        help_text=_("The key of a situation, instead of agency and service."),
    )
    language = _language()
    text = models.CharField(
        max_length=QUESTION_LIMIT, help_text=_("As people ask it, without anybody's data.")
    )
    origin = models.CharField(
        max_length=ID_LIMIT,
        choices=_choices(QUESTION_ORIGINS),
        default=QUESTION_ORIGINS[0],
        help_text=_("Who wrote it."),
    )

    class Meta(DraftEntry.Meta):
        constraints = [
            _once("knowledge_question_once", "agency", "service", "language", "text"),
            _once(
                "knowledge_situation_question_once",
                "situation",
                "language",
                "text",
                condition=Q(agency=None),
            ),
        ]

    def __str__(self) -> str:
        return self.text


_MODELS = (
    *(Agency, Category, Service, Label, Translation),
    *(HelpLine, RiskExample, CaseText, Situation, ExampleQuestion),
)
DRAFT_MODELS: Mapping[Table, type[DraftEntry]] = {model.table: model for model in _MODELS}

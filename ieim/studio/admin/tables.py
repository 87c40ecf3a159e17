"""The admin's pages of every table of the draft, of releases and of golden questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.knowledge.bundles.rows import IDENTITY
from ieim.knowledge.models import Publication, Release
from ieim.knowledge.selectors import current_number
from ieim.people.access import member
from ieim.people.reading import record_listed
from ieim.pipeline.message.screen import spelled
from ieim.studio.admin.files import FilesAdmin
from ieim.studio.editor.forms import CategoryForm, ServiceForm, SituationForm, TranslationForm
from ieim.studio.labels import COLUMNS, language_label
from ieim.studio.models import (
    Agency,
    CaseText,
    Category,
    ExampleQuestion,
    GoldenQuestion,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Situation,
    Translation,
)
from ieim.studio.trying.selectors import LISTED

if TYPE_CHECKING:
    OfRelease = admin.ModelAdmin[Release]
    OfPublication = admin.ModelAdmin[Publication]
    OfGolden = admin.ModelAdmin[GoldenQuestion]
else:
    OfRelease = OfPublication = OfGolden = admin.ModelAdmin

_EVERY_TEXT = tuple(dict.fromkeys(name for names in TRANSLATED.values() for name in names))


@admin.register(Agency)
class AgencyAdmin(FilesAdmin):
    table = "agencies"
    list_display = ["name", "id", "path", "position"]
    search_fields = ["id", "name", "description"]


@admin.register(Category)
class CategoryAdmin(FilesAdmin):
    table = "dictionary"
    form = CategoryForm
    list_display = ["value", "key", "agency", "position"]
    list_display_links = ["value", "key"]
    list_filter = [("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["key", "value", "keywords", "agency__id", "agency__name"]


@admin.register(Service)
class ServiceAdmin(FilesAdmin):
    table = "services"
    form = ServiceForm
    list_display = ["name", "key", "agency", "position"]
    list_filter = [("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["key", "name", "overview", "agency__id", "agency__name"]


@admin.register(Situation)
class SituationAdmin(FilesAdmin):
    table = "situations"
    form = SituationForm
    list_display = ["name", "kind", "key", "position"]
    list_filter = ["kind"]
    search_fields = ["key", "name", "description"]


@admin.register(Label)
class LabelAdmin(FilesAdmin):
    table = "labels"
    list_display = ["name", "set", "code", "threshold", "effect", "position"]
    list_filter = ["set"]
    search_fields = ["code", "name", "description"]


class LanguageFilter(admin.AllValuesFieldListFilter):
    """A filter by language, with the languages' names."""

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": language_label(str(choice["display"]))}


class TextAdmin(FilesAdmin):
    """The pages of a table of texts that are each in one language."""

    @admin.display(description=COLUMNS["language"], ordering="language")
    def in_language(self, entry: Any) -> str:
        return language_label(entry.language)


@admin.register(Translation)
class TranslationAdmin(TextAdmin):
    table = "translations"
    form = TranslationForm
    list_display = ["name", "in_language", "agency", "category", "service", "situation"]
    list_display_links = ["name", "in_language"]
    list_filter = [("language", LanguageFilter), ("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["name", "category", "service", "situation", "agency__id", "agency__name"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the texts that what is translated has; all while that is not known."""
        source = obj.__dict__ if obj else request.GET
        levels = ("category", "service", "situation")
        level = next((name for name in levels if source.get(name)), "agency")
        texts = TRANSLATED[level] if obj or level != "agency" else _EVERY_TEXT
        return [*IDENTITY["translations"], *texts, "position", "seen"]


@admin.register(HelpLine)
class HelpLineAdmin(TextAdmin):
    table = "help_lines"
    list_display = ["flag", "in_language", "text", "position"]
    list_display_links = ["flag", "in_language"]
    list_filter = [("language", LanguageFilter), "flag"]
    search_fields = ["flag", "text"]


@admin.register(RiskExample)
class RiskExampleAdmin(TextAdmin):
    table = "risk_examples"
    list_display = ["text", "in_language", "flag", "kind", "position"]
    list_filter = ["flag", "kind", ("language", LanguageFilter)]
    search_fields = ["flag", "text"]


@admin.register(CaseText)
class CaseTextAdmin(TextAdmin):
    table = "texts"
    list_display = ["case", "in_language", "text", "position"]
    list_display_links = ["case", "in_language"]
    list_filter = ["case", ("language", LanguageFilter)]
    search_fields = ["case", "text"]


@admin.register(ExampleQuestion)
class ExampleQuestionAdmin(TextAdmin):
    table = "questions"
    list_display = ["text", "in_language", "agency", "service", "situation", "origin"]
    list_filter = [
        ("language", LanguageFilter),
        "origin",
        ("agency", admin.RelatedOnlyFieldListFilter),
    ]
    list_select_related = ["agency"]
    search_fields = ["text", "service", "situation", "agency__id", "agency__name"]


class ReadOnly:
    """Nobody adds, changes or deletes here, superusers included."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Release)
class ReleaseAdmin(ReadOnly, OfRelease):
    """Releases, without their content, which can be megabytes."""

    list_display = ["number", "is_current", "note", "created_at", "created_by", "sha256"]
    search_fields = ["note", "sha256"]
    date_hierarchy = "created_at"
    exclude = ["content"]

    @admin.display(boolean=True, description=gettext_lazy("current"))
    def is_current(self, release: Release) -> bool:
        """Whether new turns are pinned to it."""
        return release.number == current_number()


@admin.register(Publication)
class PublicationAdmin(ReadOnly, OfPublication):
    list_display = ["release", "published_at", "published_by"]
    date_hierarchy = "published_at"


@admin.register(GoldenQuestion)
class GoldenQuestionAdmin(OfGolden):
    """Golden questions, to read: they are kept and removed on pages of their own, audited."""

    list_display = ["name", "created_at", "created_by"]
    date_hierarchy = "created_at"
    search_fields = ["name", "case"]
    fields = ["name", "case_as_text", "created_at", "created_by"]
    readonly_fields = ["name", "case_as_text", "created_at", "created_by"]

    @admin.display(description=gettext_lazy("case"))
    def case_as_text(self, question: GoldenQuestion) -> str:
        """Return the case as JSON; what would turn the direction of its words is spelled out."""
        return spelled(json.dumps(question.case, ensure_ascii=False, indent=2))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Show a question, which is recorded: its words may have been a citizen's."""
        record_listed(LISTED, "questions", [kwargs["obj"].name], member(request))
        return super().render_change_form(request, context, *args, **kwargs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: GoldenQuestion | None = None
    ) -> bool:
        return False

"""The admin's pages of every table of the draft."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import redirect

from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.knowledge.bundles.rows import IDENTITY
from ieim.studio.admin.base import identity_of
from ieim.studio.admin.files import FilesAdmin
from ieim.studio.editor.addresses import edit_url
from ieim.studio.editor.forms import TranslationForm
from ieim.studio.labels import COLUMNS, language_label
from ieim.studio.models import (
    Agency,
    CaseText,
    Category,
    ExampleQuestion,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Situation,
    Translation,
)

_EVERY_TEXT = tuple(dict.fromkeys(name for names in TRANSLATED.values() for name in names))


class PagedAdmin(FilesAdmin):
    """A table whose entries have pages of their own, to which its list leads; it has the files."""

    actions = []

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Lead to the entry's page, whatever the method."""
        allowed = (
            self.has_view_permission if request.method == "GET" else self.has_change_permission
        )
        if object_id is None or not allowed(request):
            raise PermissionDenied
        entry = self.get_object(request, unquote(object_id))
        if entry is None:
            return redirect("admin:index")
        return redirect(edit_url(entry.table, list(identity_of(entry).values())))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Agency)
class AgencyAdmin(PagedAdmin):
    table = "agencies"
    list_display = ["name", "id", "path", "position"]
    search_fields = ["id", "name", "description"]


@admin.register(Category)
class CategoryAdmin(PagedAdmin):
    table = "dictionary"
    list_display = ["value", "key", "agency", "position"]
    list_display_links = ["value", "key"]
    list_filter = [("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["key", "value", "keywords", "agency__id", "agency__name"]


@admin.register(Service)
class ServiceAdmin(PagedAdmin):
    table = "services"
    list_display = ["name", "key", "agency", "position"]
    list_filter = [("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["key", "name", "overview", "agency__id", "agency__name"]


@admin.register(Situation)
class SituationAdmin(PagedAdmin):
    table = "situations"
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

"""The admin's pages of every table of the draft, of releases and of golden questions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.knowledge.bundles.rows import IDENTITY
from ieim.knowledge.models import Publication, Release
from ieim.knowledge.selectors import current_number
from ieim.people.access import member
from ieim.people.reading import record_listed
from ieim.pipeline.message.screen import spelled
from ieim.studio.admin.base import Refused, collected, refused
from ieim.studio.admin.files import FilesAdmin
from ieim.studio.admin.forms import (
    CategoryForm,
    Rows,
    ServiceForm,
    SituationForm,
    TranslationForm,
)
from ieim.studio.admin.questions import lines_of, save_lines
from ieim.studio.drafts.entries import Problems
from ieim.studio.drafts.selectors import link_warnings
from ieim.studio.gaps import selectors as gaps
from ieim.studio.models import (
    Agency,
    CaseText,
    Category,
    DraftEntry,
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
    Inline = admin.TabularInline[DraftEntry, Agency]
    OfRelease = admin.ModelAdmin[Release]
    OfPublication = admin.ModelAdmin[Publication]
    OfGolden = admin.ModelAdmin[GoldenQuestion]
else:
    Inline = admin.TabularInline
    OfRelease = OfPublication = OfGolden = admin.ModelAdmin

_EVERY_TEXT = tuple(dict.fromkeys(name for names in TRANSLATED.values() for name in names))
_INLINE_LIMIT = 100
"""Dictionary entries that a page of an agency still shows: each is six fields of a form."""


class CategoryInline(Inline):
    model = Category
    form = CategoryForm
    formset = Rows
    fields = ["key", "value", "keywords", "position", "seen"]
    extra = 0
    show_change_link = True

    def get_formset(self, request: HttpRequest, obj: Agency | None = None, **kwargs: Any) -> Any:
        """Return the formset with what editing has just refused."""
        form = type("CategoryRow", (CategoryForm,), {"problems": refused(request)})
        return super().get_formset(request, obj, **{**kwargs, "form": form})


@admin.register(Agency)
class AgencyAdmin(FilesAdmin):
    table = "agencies"
    list_display = ["name", "id", "path", "position"]
    search_fields = ["id", "name", "description"]

    def get_inlines(self, request: HttpRequest, obj: Any) -> list[Any]:
        """Return the dictionary, unless it is too long for one page."""
        if obj is None or obj.categories.count() <= _INLINE_LIMIT:
            return [CategoryInline]
        return []


@admin.register(Category)
class CategoryAdmin(FilesAdmin):
    table = "dictionary"
    form = CategoryForm
    list_display = ["value", "key", "agency", "position"]
    list_display_links = ["value", "key"]
    list_filter = [("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["key", "value", "keywords", "agency__id", "agency__name"]


class HasOverview(admin.SimpleListFilter):
    """Services without an overview: the answer cannot say what they are."""

    title = gettext_lazy("overview")
    parameter_name = "overview"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", gettext("With an overview")), ("no", gettext("Without an overview"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "yes":
            return queryset.exclude(overview="")
        return queryset.filter(overview="") if self.value() == "no" else queryset


class AskedAdmin(FilesAdmin):
    """Entries that have example questions on their form."""

    @admin.display(description=gettext_lazy("Questions that people ask"))
    def questions(self, entry: Service | Situation) -> str:
        """Return what who may not change the entry reads."""
        return "\n".join(lines_of(entry))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save the entry with its questions."""
        super().save_model(request, obj, form, change)
        problems: dict[str, Problems] = {}
        with collected(problems, form):
            before, after = form.question_lines(change)
            save_lines(obj, before, after, member(request))
        if problems:
            raise Refused(problems)


@admin.register(Service)
class ServiceAdmin(AskedAdmin):
    table = "services"
    form = ServiceForm
    list_display = ["name", "key", "agency", "has_overview", "position"]
    list_filter = [HasOverview, ("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["key", "name", "overview", "agency__id", "agency__name"]
    fieldsets = [
        (None, {"fields": ["agency", "key", "name", "categories", "position", "seen"]}),
        (
            gettext_lazy("What the citizen reads"),
            {"fields": ["overview", "applicability_summary", "requirements", "how_to_apply"]},
        ),
        (
            gettext_lazy("Facts"),
            {"fields": ["fees", "processing_time", "deadline_days", "contact"]},
        ),
        (gettext_lazy("Links"), {"fields": ["path", "url", "next_services"]}),
        (gettext_lazy("How it is found"), {"fields": ["questions"]}),
    ]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Return what the address gives, and the question of the gap that a service is to fill."""
        initial = super().get_changeform_initial_data(request)
        gap = gaps.first_gap(request.GET.get("gap", ""), member(request))
        if gap is not None:
            record_listed(gaps.LISTED, "turns", [gap.turn_id], member(request))
            text, language = " ".join(gap.text.split()), gap.group.language
            line = f"{language}: {text}" if language else text
            initial |= {"agency": gap.group.agency, "questions": [line]}
        return initial

    @admin.display(boolean=True, description=gettext_lazy("overview"))
    def has_overview(self, service: Service) -> bool:
        return bool(service.overview.strip())

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save it, and say what to look at again among the links."""
        super().save_model(request, obj, form, change)
        same = Service.objects.filter(url=obj.url).exclude(pk=obj.pk) if obj.url else ()
        others = [(f"{service.agency_id} {service.key}", service.url) for service in same]
        for warning in link_warnings([(f"{obj.agency_id} {obj.key}", obj.url)], others):
            messages.warning(request, warning)


@admin.register(Situation)
class SituationAdmin(AskedAdmin):
    table = "situations"
    form = SituationForm
    list_display = ["name", "kind", "key", "position"]
    list_filter = ["kind"]
    search_fields = ["key", "name", "description"]
    fieldsets = [
        (None, {"fields": ["key", "kind", "name", "description", "position", "seen"]}),
        (gettext_lazy("What to do"), {"fields": ["services"]}),
        (gettext_lazy("How it is found"), {"fields": ["questions"]}),
    ]


@admin.register(Label)
class LabelAdmin(FilesAdmin):
    table = "labels"
    list_display = ["name", "set", "code", "threshold", "effect", "position"]
    list_filter = ["set"]
    search_fields = ["code", "name", "description"]


@admin.register(Translation)
class TranslationAdmin(FilesAdmin):
    table = "translations"
    form = TranslationForm
    list_display = ["name", "language", "agency", "category", "service", "situation"]
    list_display_links = ["name", "language"]
    list_filter = ["language", ("agency", admin.RelatedOnlyFieldListFilter)]
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
class HelpLineAdmin(FilesAdmin):
    table = "help_lines"
    list_display = ["flag", "language", "text", "position"]
    list_display_links = ["flag", "language"]
    list_filter = ["language", "flag"]
    search_fields = ["flag", "text"]


@admin.register(RiskExample)
class RiskExampleAdmin(FilesAdmin):
    table = "risk_examples"
    list_display = ["text", "language", "flag", "kind", "position"]
    list_filter = ["flag", "kind", "language"]
    search_fields = ["flag", "text"]


@admin.register(CaseText)
class CaseTextAdmin(FilesAdmin):
    table = "texts"
    list_display = ["case", "language", "text", "position"]
    list_display_links = ["case", "language"]
    list_filter = ["case", "language"]
    search_fields = ["case", "text"]


@admin.register(ExampleQuestion)
class ExampleQuestionAdmin(FilesAdmin):
    table = "questions"
    list_display = ["text", "language", "agency", "service", "situation", "origin"]
    list_filter = ["language", "origin", ("agency", admin.RelatedOnlyFieldListFilter)]
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

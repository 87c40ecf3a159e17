"""Django's admin for the draft; releases and publications can only be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.http import HttpRequest

from ieim.audit.admin import ReadOnly
from ieim.knowledge.models import (
    Agency,
    AgencyScope,
    Category,
    GoldenQuestion,
    Label,
    Publication,
    Release,
    Service,
)
from ieim.knowledge.selectors import current_number

if TYPE_CHECKING:
    OfAgency = admin.ModelAdmin[Agency]
    OfCategory = admin.ModelAdmin[Category]
    OfService = admin.ModelAdmin[Service]
    OfLabel = admin.ModelAdmin[Label]
    OfRelease = admin.ModelAdmin[Release]
    OfPublication = admin.ModelAdmin[Publication]
    OfGolden = admin.ModelAdmin[GoldenQuestion]
    OfScope = admin.ModelAdmin[AgencyScope]
else:
    OfAgency = OfCategory = OfService = OfLabel = OfRelease = OfPublication = admin.ModelAdmin
    OfGolden = OfScope = admin.ModelAdmin


@admin.register(Agency)
class AgencyAdmin(OfAgency):
    """Agencies of the draft."""

    list_display = ["name", "id", "path", "position"]
    search_fields = ["id", "name", "description"]
    fields = ["id", "name", "path", "description", "position"]

    def get_readonly_fields(self, request: HttpRequest, obj: Agency | None = None) -> list[str]:
        """Return the id once there is an agency: everything else refers to it."""
        return [] if obj is None else ["id"]


@admin.register(Category)
class CategoryAdmin(OfCategory):
    """Dictionary entries of the draft."""

    list_display = ["value", "key", "agency", "position"]
    list_filter = [("agency", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agency"]
    search_fields = ["key", "value", "keywords", "agency__id", "agency__name"]
    fields = ["agency", "key", "value", "keywords", "position"]
    autocomplete_fields = ["agency"]


@admin.register(Service)
class ServiceAdmin(OfService):
    """Services of the draft."""

    list_display = ["name", "key", "agency", "has_overview", "position"]
    list_filter = [
        ("overview", admin.EmptyFieldListFilter),
        ("agency", admin.RelatedOnlyFieldListFilter),
    ]
    list_select_related = ["agency"]
    search_fields = ["key", "name", "overview", "agency__id", "agency__name"]
    autocomplete_fields = ["agency"]
    fieldsets = [
        (None, {"fields": ["agency", "key", "name", "categories", "position"]}),
        (
            "What the citizen reads",
            {"fields": ["overview", "applicability_summary", "requirements", "how_to_apply"]},
        ),
        ("Facts", {"fields": ["fees", "processing_time", "contact"]}),
        ("Links", {"fields": ["path", "url"]}),
    ]

    @admin.display(boolean=True, description="overview")
    def has_overview(self, service: Service) -> bool:
        """Whether there is an overview to answer with."""
        return bool(service.overview.strip())


@admin.register(Label)
class LabelAdmin(OfLabel):
    """Labels of the draft."""

    list_display = ["name", "set", "code", "threshold", "effect", "position"]
    list_filter = ["set"]
    search_fields = ["code", "name", "description"]
    fields = ["set", "code", "name", "description", "threshold", "effect", "position"]


@admin.register(Release)
class ReleaseAdmin(ReadOnly, OfRelease):
    """Releases, without their content, which can be megabytes."""

    list_display = ["number", "is_current", "note", "created_at", "created_by", "sha256"]
    search_fields = ["note", "sha256"]
    date_hierarchy = "created_at"
    exclude = ["content"]

    @admin.display(boolean=True, description="current")
    def is_current(self, release: Release) -> bool:
        """Whether new turns are pinned to it."""
        return release.number == current_number()


@admin.register(Publication)
class PublicationAdmin(ReadOnly, OfPublication):
    """When which release became current."""

    list_display = ["release", "published_at", "published_by"]
    date_hierarchy = "published_at"


@admin.register(GoldenQuestion)
class GoldenQuestionAdmin(OfGolden):
    """Golden questions: to read and to throw away. They come from decided items."""

    list_display = ["name", "created_at", "created_by"]
    date_hierarchy = "created_at"
    search_fields = ["name", "case"]
    readonly_fields = ["name", "case", "created_at", "created_by"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody writes one by hand."""
        return False


@admin.register(AgencyScope)
class AgencyScopeAdmin(OfScope):
    """Which agencies a member of staff works for."""

    list_display = ["user", "agency"]
    list_filter = ["agency"]
    search_fields = ["user__username", "agency"]
    autocomplete_fields = ["user"]

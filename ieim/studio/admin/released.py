"""What can only be looked at, and golden questions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from ieim.audit.admin import ReadOnly
from ieim.knowledge.models import Publication, Release
from ieim.knowledge.selectors import current_number
from ieim.pipeline.message.screen import spelled
from ieim.studio.models import GoldenQuestion

if TYPE_CHECKING:
    OfRelease = admin.ModelAdmin[Release]
    OfPublication = admin.ModelAdmin[Publication]
    OfGolden = admin.ModelAdmin[GoldenQuestion]
else:
    OfRelease = OfPublication = OfGolden = admin.ModelAdmin


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
    """When which release became current."""

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

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Not here."""
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: GoldenQuestion | None = None
    ) -> bool:
        """Not here."""
        return False

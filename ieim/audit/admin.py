"""The audit record in Django's admin: to read only."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ieim.audit.models import AuditCheckpoint, AuditEvent

if TYPE_CHECKING:
    EventAdmin = admin.ModelAdmin[AuditEvent]
    CheckpointAdmin = admin.ModelAdmin[AuditCheckpoint]
else:
    EventAdmin = CheckpointAdmin = admin.ModelAdmin


class ReadOnly:
    """Nobody adds, changes or deletes here, superusers included."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Return False."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Return False."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Return False."""
        return False


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnly, EventAdmin):
    """Events, newest first."""

    list_display = ["chain", "seq", "kind", "actor", "at"]
    list_filter = ["kind"]
    search_fields = ["chain"]
    search_help_text = "The whole id of a session"
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent], search_term: str
    ) -> tuple[QuerySet[AuditEvent], bool]:
        """Find a chain by its whole id, which the index answers; anything else finds nothing."""
        if not search_term:
            return queryset, False
        try:
            return queryset.filter(chain=UUID(search_term.strip())), False
        except ValueError:
            return queryset.none(), False


@admin.register(AuditCheckpoint)
class AuditCheckpointAdmin(ReadOnly, CheckpointAdmin):
    """Checkpoints, newest first."""

    list_display = ["number", "at", "chains", "digest"]

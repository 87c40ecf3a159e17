"""The audit record in Django's admin: to read only."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
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


_FINDERS: list[Callable[[str], UUID | None]] = []


def find_by(finder: Callable[[str], UUID | None]) -> None:
    """Let the search also take what ``finder`` knows the chain of: an app above says what it is."""
    _FINDERS.append(finder)


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
    search_help_text = (
        "A citizen’s reference (K7M-4QX9, with or without hyphen), or the whole id of a session,"
        " a message or a review item"
    )
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent], search_term: str
    ) -> tuple[QuerySet[AuditEvent], bool]:
        """Find a chain by what names it, which an index answers; anything else finds nothing."""
        typed = search_term.strip()
        if not typed:
            return queryset, False
        chains = {chain for finder in _FINDERS if (chain := finder(typed)) is not None}
        with suppress(ValueError):
            chains.add(UUID(typed))
        return queryset.filter(chain__in=chains), False


@admin.register(AuditCheckpoint)
class AuditCheckpointAdmin(ReadOnly, CheckpointAdmin):
    """Checkpoints, newest first."""

    list_display = ["number", "at", "chains", "digest"]

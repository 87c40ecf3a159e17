"""The audit record in Django's admin: to read only."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, cast
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from ieim.audit.models import AuditCheckpoint, AuditEvent

if TYPE_CHECKING:
    EventAdmin = admin.ModelAdmin[AuditEvent]
    CheckpointAdmin = admin.ModelAdmin[AuditCheckpoint]
else:
    EventAdmin = CheckpointAdmin = admin.ModelAdmin


MOST = 10_000
"""Events that can be leafed through."""

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


class Newest(Paginator):  # type: ignore[type-arg]  # the admin names no type either
    """Pages over the newest :data:`MOST` events: to count all of them takes longer each day."""

    @cached_property
    def count(self) -> int:
        """How many there are, at most :data:`MOST`."""
        found = cast("QuerySet[AuditEvent]", self.object_list)
        return found[:MOST].count()


class ByKind(admin.SimpleListFilter):
    """The kinds that there are, read from one to the next along their index: Django's own filter
    looks at every event."""

    title = parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """Return the kinds."""
        with connection.cursor() as cursor:
            cursor.execute(_KINDS)
            return [(kind, kind) for (kind,) in cursor.fetchall()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent]
    ) -> QuerySet[AuditEvent]:
        """Return the events of the chosen kind."""
        return queryset.filter(kind=self.value()) if self.value() else queryset


_KINDS = """
    WITH RECURSIVE found (kind) AS (
        SELECT min(kind) FROM audit_auditevent
        UNION ALL
        SELECT (SELECT min(kind) FROM audit_auditevent WHERE kind > found.kind)
        FROM found WHERE found.kind IS NOT NULL
    )
    SELECT kind FROM found WHERE kind IS NOT NULL
"""


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnly, EventAdmin):
    """Events, newest first; older ones than the newest :data:`MOST` of a kind are searched for."""

    list_display = ["chain", "seq", "kind", "actor", "at"]
    list_filter = [ByKind]
    paginator = Newest
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

"""Per-agency scope in the admin: what people see, choose from and change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.db.models import ForeignKey, Q, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import Table
from ieim.people.scope import agencies_of
from ieim.studio.drafts.editing import permits
from ieim.studio.models import Agency, DraftEntry

if TYPE_CHECKING:
    OfDraft = admin.ModelAdmin[DraftEntry]
else:
    OfDraft = admin.ModelAdmin


def scope_of(request: HttpRequest) -> frozenset[str] | None:
    """Return the agencies of whoever asks (see ``agencies_of``), looked up once a request."""
    if not hasattr(request, "_agencies_of"):
        request._agencies_of = agencies_of(request.user)  # type: ignore[attr-defined]
    found: frozenset[str] | None = request._agencies_of  # type: ignore[attr-defined]
    return found


def owner_of(entry: DraftEntry) -> str:
    """Return the id of the agency that an entry belongs to, "" for a label."""
    return str(entry.pk if isinstance(entry, Agency) else getattr(entry, "agency_id", ""))


class Scoped(OfDraft):
    """Shows and lets change what belongs to the agencies of whoever asks."""

    table: ClassVar[Table]

    def get_queryset(self, request: HttpRequest) -> QuerySet[DraftEntry]:
        """Return the entries of their agencies."""
        rows = super().get_queryset(request)
        scope = scope_of(request)
        if scope is None:
            return rows
        if self.table == "agencies":
            return rows.filter(pk__in=scope)
        return rows.filter(Q(agency__in=scope)) if "agency" in COLUMNS[self.table] else rows.none()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whether they may add one: agencies and labels are for people of every agency."""
        everybody = "agency" not in COLUMNS[self.table]
        allowed = scope_of(request) is None or (bool(scope_of(request)) and not everybody)
        return allowed and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether they may change it."""
        return self._covers(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether they may delete it; an agency, only people of every agency."""
        if self.table == "agencies" and scope_of(request) is not None:
            return False
        return self._covers(request, obj) and super().has_delete_permission(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether they may see it."""
        return self._covers(request, obj) and super().has_view_permission(request, obj)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        """Return a field whose choices are their agencies."""
        scope = scope_of(request)
        if db_field.related_model is Agency and scope is not None:
            kwargs["queryset"] = Agency.objects.filter(pk__in=scope)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def _covers(self, request: HttpRequest, obj: DraftEntry | None) -> bool:
        scope = scope_of(request)
        if obj is None:
            return scope is None or "agency" in COLUMNS[self.table] or self.table == "agencies"
        return permits(scope, self.table, owner_of(obj), new=False)

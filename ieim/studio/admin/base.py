"""What the pages of every table of the draft do: save and remove through editing, and no other way.

A save runs in one transaction. What editing refuses undoes all of it; the page comes back with
what was typed, and with what is wrong beside the field. People see, choose from and change what
belongs to their agencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected as delete_selected_
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, Table
from ieim.people.scope import agencies_of
from ieim.studio.admin.conflicts import conflict_of, identity_fields, removed_entry, saved_over
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import Problem, Problems, attribute
from ieim.studio.drafts.history import made, readable
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.editor.forms import DraftForm, sentence
from ieim.studio.labels import column_label
from ieim.studio.models import Agency, Change, DraftEntry

if TYPE_CHECKING:
    OfDraft = admin.ModelAdmin[DraftEntry]
else:
    OfDraft = admin.ModelAdmin

_REFUSALS = (editing.Stale, editing.OutOfScope, editing.Invalid)
_CHANGES_PER_PAGE = 50
_DELETE_LIMIT = 200
"""Two fields each on the page that asks: a form may have a thousand."""


class Refused(Exception):
    """Editing refused the page's form."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("refused")
        self.problems = problems


def identity_of(entry: DraftEntry) -> dict[str, str]:
    return {name: getattr(entry, attribute(name)) for name in IDENTITY[entry.table]}


def scope_of(request: HttpRequest) -> frozenset[str] | None:
    """Return the agencies of whoever asks (see ``agencies_of``), looked up once a request."""
    if not hasattr(request, "_agencies_of"):
        request._agencies_of = agencies_of(request.user)  # type: ignore[attr-defined]
    scope: frozenset[str] | None = request._agencies_of  # type: ignore[attr-defined]  # set above
    return scope


class LightList(ChangeList):
    """A list that leaves the long columns where they are: sorting by position would carry them."""

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: list[str | None] | None = None
    ) -> QuerySet[Any]:
        rows = super().get_queryset(request, exclude_parameters)
        columns = {"overview", *(name for name in self.list_display if isinstance(name, str))}
        long = (models.TextField, models.JSONField)
        fields = self.model._meta.concrete_fields
        return rows.defer(
            *(f.name for f in fields if isinstance(f, long) and f.name not in columns)
        )


class Scoped(OfDraft):
    table: ClassVar[Table]

    def get_queryset(self, request: HttpRequest) -> QuerySet[DraftEntry]:
        rows = super().get_queryset(request)
        scope = scope_of(request)
        if scope is None:
            return rows
        if self.table == "agencies":
            return rows.filter(pk__in=scope)
        return (
            rows.filter(models.Q(agency__in=scope))
            if "agency" in COLUMNS[self.table]
            else rows.none()
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whether they may add one: labels are for people of every agency."""
        everybody = "agency" not in COLUMNS[self.table]
        allowed = scope_of(request) is None or (bool(scope_of(request)) and not everybody)
        return allowed and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._covers(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._covers(request, obj) and super().has_delete_permission(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._covers(request, obj) and super().has_view_permission(request, obj)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        scope = scope_of(request)
        if db_field.related_model is Agency and scope is not None:
            kwargs["queryset"] = Agency.objects.filter(pk__in=scope)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def _covers(self, request: HttpRequest, obj: DraftEntry | None) -> bool:
        scope = scope_of(request)
        if obj is None:
            return scope is None or "agency" in COLUMNS[self.table] or self.table == "agencies"
        return editing.permits(scope, self.table, _owner_of(obj), new=False)


class DraftAdmin(Scoped):
    form = DraftForm
    actions = ["delete_selected"]
    list_per_page = 50
    show_full_result_count = False
    change_form_template = "admin/studio/change_form.html"
    object_history_template = "admin/studio/history.html"
    delete_confirmation_template = "admin/studio/delete_confirmation.html"
    delete_selected_confirmation_template = "admin/studio/delete_selected.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[LightList]:
        return LightList

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [*COLUMNS[self.table], "position", "seen"]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kw: Any
    ) -> Any:
        """Return the form with what editing has just refused."""
        form: Any = super().get_form(request, obj, change=change, **kw)
        field_names = flatten_fieldsets(self.get_fieldsets(request, obj))
        # None takes a declared field out: what the page does not show is not posted either.
        hidden = {name: None for name in form.declared_fields if name not in field_names}
        return type(form)(form.__name__, (form,), {**hidden, "problems": refused(request)})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show or save an entry; nothing is saved of what editing refuses in part."""
        if request.method == "POST":
            request.POST = saved_over(request.POST)  # type: ignore[assignment]
            if object_id is not None and (again := self._removed(request, object_id)):
                request.POST, message = again
                request._refused = {"": [Problem.of(message)]}  # type: ignore[attr-defined]  # as below
                form_url = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_add")
                return super().changeform_view(request, None, form_url, extra_context)
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Refused as refused:
            request._refused = refused.problems  # type: ignore[attr-defined]  # the admin passes nothing else
            return super().changeform_view(request, object_id, form_url, extra_context)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the form, with links to what is wrong in it."""
        context["wrong"] = [field for field in context["adminform"].form if field.errors]
        entry = context.get("original")
        if entry is not None:
            context["identity"] = identity_fields(identity_of(entry))
            context["conflict"] = conflict_of(context["adminform"].form)
        return super().render_change_form(request, context, *args, **kwargs)

    def _removed(self, request: HttpRequest, object_id: str) -> tuple[Any, str] | None:
        """Return the form of an entry that somebody removed, and who did; else None."""
        try:
            pk = self.opts.pk.to_python(unquote(object_id))
        except ValidationError:
            return None
        if self.model._default_manager.filter(pk=pk).exists():
            return None
        return removed_entry(request.POST, self.table, scope_of(request))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        try:
            _become(obj, _save(request, form))
        except editing.Invalid as error:
            raise Refused(error.problems) from error
        except (editing.Stale, editing.OutOfScope) as error:
            text = sentence(str(error))
            if isinstance(error, editing.Stale):
                hint = gettext("Nothing was saved.")
                text = f"{text} {hint}"
            raise Refused({"": [Problem.of(text)]}) from error

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        try:
            return super().delete_view(request, object_id, extra_context)
        except _REFUSALS as error:
            messages.error(request, sentence(str(error)))
            name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
            return HttpResponseRedirect(reverse(name, args=[object_id]))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        _remove(request, obj, _number(request.POST.get("seen")))

    @admin.action(permissions=["delete"], description=gettext_lazy("Delete selected entries"))
    def delete_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        if queryset.count() > _DELETE_LIMIT:
            message = gettext("Delete at most {limit} entries at a time.")
            messages.error(request, message.format(limit=_DELETE_LIMIT))
            return None
        try:
            with transaction.atomic():
                page: HttpResponse | None = delete_selected_(self, request, queryset)
                return page
        except _REFUSALS as error:
            message = gettext("Nothing was deleted. {reason}")
            messages.error(request, message.format(reason=sentence(str(error))))
            return None

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Remove each through editing, in the version that was on the page."""
        pairs = [pair.rpartition(":") for pair in request.POST.getlist("seen")]
        versions = {pk: _number(version) for pk, _, version in pairs}
        for entry in queryset:
            _remove(request, entry, versions.get(str(entry.pk), 0))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return the entries alone: their translations go with them, nothing else may."""
        names = [str(entry) for entry in objs]
        return names, {str(self.opts.verbose_name_plural): len(names)}, set(), []

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        entry = self.get_object(request, unquote(object_id))
        if entry is None:
            return super().history_view(request, object_id, extra_context)
        name = entry_name(self.table, identity_of(entry))
        changes = Change.objects.select_related("by").filter(table=self.table, entry=name)
        page = self.get_paginator(request, changes, _CHANGES_PER_PAGE).get_page(
            request.GET.get("p", 1)
        )
        extra = {**(extra_context or {}), "changes": page, "version": entry.version}
        extra["shown"] = [
            (
                change,
                *made(change),
                [(column_label(name), *texts) for name, *texts in readable(change.fields)],
            )
            for change in page
        ]
        return super().history_view(request, object_id, extra)


def _save(request: HttpRequest, form: DraftForm) -> DraftEntry:
    return editing.save(
        table=form.instance.table,
        values=form.values(),
        by=request.user,  # type: ignore[arg-type]
        expected_version=form.seen_version(),
        source=Change.Source.ADMIN,
    )


def _remove(request: HttpRequest, entry: DraftEntry, version: int | None) -> None:
    editing.remove(
        table=entry.table,
        identity=identity_of(entry),
        by=request.user,  # type: ignore[arg-type]
        expected_version=version or 0,
        source=Change.Source.ADMIN,
    )


def _become(entry: DraftEntry, saved: DraftEntry) -> None:
    for field in saved._meta.concrete_fields:
        setattr(entry, field.attname, getattr(saved, field.attname))
    entry._state.adding = False


def refused(request: HttpRequest) -> Problems:
    """Return what editing refused of this very request."""
    return getattr(request, "_refused", {})


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0


def _owner_of(entry: DraftEntry) -> str:
    """Return the id of the agency that an entry belongs to, "" for what belongs to every agency."""
    return str(entry.pk if isinstance(entry, Agency) else getattr(entry, "agency_id", None) or "")

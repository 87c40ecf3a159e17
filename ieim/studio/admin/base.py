"""What the pages of every table of the draft do: save and remove through editing, and no other way.

A save runs in one transaction. What editing refuses undoes all of it; the page comes back with
what was typed, and with what is wrong beside the field. People see, choose from and change what
belongs to their agencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

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
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, Table
from ieim.people.scope import agencies_of
from ieim.studio.admin.conflicts import conflict_of, identity_fields, removed_entry, saved_over
from ieim.studio.admin.forms import DraftForm, sentence
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import Problem, Problems, attribute
from ieim.studio.drafts.history import readable
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.models import Agency, Category, Change, DraftEntry, Service, Situation

if TYPE_CHECKING:
    OfDraft = admin.ModelAdmin[DraftEntry]
else:
    OfDraft = admin.ModelAdmin

_REFUSALS = (editing.Stale, editing.OutOfScope, editing.Invalid)
_CHANGES_PER_PAGE = 50
_TAKE_OVER = gettext_noop(
    "Open the entry again in another tab, and take over from here what you still want."
)
_DELETE_LIMIT = 200
"""Two fields each on the page that asks: a form may have a thousand."""


class Refused(Exception):
    """Editing refused some of a page's forms; ``problems`` by prefix and column."""

    def __init__(self, problems: Mapping[str, Problems]) -> None:
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
        """Whether they may add one: agencies and labels are for people of every agency."""
        everybody = "agency" not in COLUMNS[self.table]
        allowed = scope_of(request) is None or (bool(scope_of(request)) and not everybody)
        return allowed and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._covers(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether they may delete it; an agency, only people of every agency."""
        if self.table == "agencies" and scope_of(request) is not None:
            return False
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
                request._refused = {"": {"": [Problem.of(message)]}}  # type: ignore[attr-defined]  # as below
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
        """Show the form, with ways to what is wrong in it and to what belongs to the entry."""
        rows = (row for inline in context["inline_admin_formsets"] for row in inline.formset.forms)
        forms = (context["adminform"].form, *rows)
        context["wrong"] = [field for form in forms for field in form if field.errors]
        entry = context.get("original")
        if entry is not None:
            context["related"] = related(entry)
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
        problems: dict[str, Problems] = {}
        with collected(problems, form):
            saved = _save(request, form)
            _become(obj, saved)
        if problems:
            raise Refused(problems)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Save the rows of an inline through editing, and all of its problems at once."""
        problems: dict[str, Problems] = {}
        formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        for row in formset.forms:
            entry: DraftEntry = row.instance
            new = entry._state.adding
            if row in formset.deleted_forms:
                if not new:
                    # A row that goes shows nothing: what is wrong stands over the page.
                    with collected(problems, form, about=str(entry)):
                        _remove(request, entry, row.seen_version())
                        formset.deleted_objects.append(entry)
            elif row.has_changed():
                entry.agency_id = form.instance.pk  # type: ignore[attr-defined]
                with collected(problems, row):
                    _become(entry, _save(request, row))
                if new:
                    formset.new_objects.append(entry)
                else:
                    formset.changed_objects.append((entry, row.changed_data))
        if problems:
            raise Refused(problems)

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
        extra["shown"] = [(change, readable(change.fields)) for change in page]
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


@contextmanager
def collected(problems: dict[str, Problems], form: DraftForm, about: str = "") -> Iterator[None]:
    """Note in ``problems`` what editing refuses, instead of raising it."""
    of_form = problems.setdefault(form.prefix or "", {})
    try:
        yield
    except editing.Invalid as error:
        for column, wrong in error.problems.items():
            labelled = (
                [Problem.of(f"{about}: {problem.text}") for problem in wrong] if about else wrong
            )
            of_form.setdefault("" if about else column, []).extend(labelled)
    except (editing.Stale, editing.OutOfScope) as error:
        text = sentence(str(error))
        if isinstance(error, editing.Stale):
            hint = [gettext(_TAKE_OVER)] if form.prefix or about else []
            text = " ".join([text, gettext("Nothing was saved."), *hint])
        of_form.setdefault("", []).append(Problem.of(f"{about}: {text}" if about else text))
    if not of_form:
        del problems[form.prefix or ""]


def refused(request: HttpRequest) -> Mapping[str, Problems]:
    """Return what editing refused of this very request, by prefix and column."""
    return getattr(request, "_refused", {})


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0


def related(entry: DraftEntry) -> list[tuple[str, str]]:
    """Return ``(text, address)`` of the lists that belong to an entry, and of the page that adds a
    translation."""
    if isinstance(entry, Situation):
        query = {"situation__exact": entry.key}
        return [
            (gettext("Translations"), _url("translation", "changelist", query)),
            (gettext("Add a translation"), _url("translation", "add", {"situation": entry.key})),
            (gettext("Example questions"), _url("examplequestion", "changelist", query)),
        ]
    if not isinstance(entry, Agency | Category | Service):
        return []
    listed, added = {"agency__id__exact": _owner_of(entry)}, {"agency": _owner_of(entry)}
    if not isinstance(entry, Agency):
        key = {"service" if isinstance(entry, Service) else "category": entry.key}
        links = [
            (gettext("Translations"), _url("translation", "changelist", listed | key)),
            (gettext("Add a translation"), _url("translation", "add", added | key)),
        ]
        if isinstance(entry, Service):
            questions = _url("examplequestion", "changelist", listed | key)
            links.append((gettext("Example questions"), questions))
        return links
    return [
        (gettext("Services"), _url("service", "changelist", listed)),
        (gettext("Dictionary"), _url("category", "changelist", listed)),
        (gettext("Translations"), _url("translation", "changelist", listed)),
        (gettext("Add a service"), _url("service", "add", added)),
        (gettext("Add a translation"), _url("translation", "add", added)),
    ]


def _url(model: str, page: str, query: dict[str, str]) -> str:
    return f"{reverse(f'admin:studio_{model}_{page}')}?{urlencode(query)}"


def _owner_of(entry: DraftEntry) -> str:
    """Return the id of the agency that an entry belongs to, "" for what belongs to every agency."""
    return str(entry.pk if isinstance(entry, Agency) else getattr(entry, "agency_id", None) or "")

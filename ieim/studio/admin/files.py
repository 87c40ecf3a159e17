"""Import and export in the admin: a preview first, and nothing is written while anything is wrong.

Until it is confirmed the uploaded file is kept in the cache, which all web processes see, for an
hour; then the page asks for the file again.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID, uuid4

from django import forms
from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import FileExtensionValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, gettext_lazy

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.people.access import member
from ieim.studio.admin.base import DraftAdmin
from ieim.studio.drafts.editing import OutOfScope
from ieim.studio.exchange.files import MAX_BYTES, MEDIA_TYPES, export, read
from ieim.studio.exchange.importing import (
    ALL,
    Moved,
    ignored_columns,
    plan_import,
    service_warnings,
    table_problems,
    table_rows,
    write_import,
)

_KEEP_SECONDS = 3600
_ENDINGS = {kind: kind for kind in MEDIA_TYPES} | {"tsv": "csv", "txt": "csv", "yml": "yaml"}


class ImportForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"),
        validators=[FileExtensionValidator(list(_ENDINGS))],
        widget=forms.FileInput(attrs={"accept": ",".join(f".{name}" for name in _ENDINGS)}),
    )


class ConfirmForm(forms.Form):
    """What a preview hands to the import: the file, and the draft that it was compared with."""

    token = forms.UUIDField(widget=forms.HiddenInput)
    seen = forms.CharField(widget=forms.HiddenInput)


class ExportForm(forms.Form):
    format = forms.ChoiceField(
        label=gettext_lazy("Format"), choices=[(kind, kind.upper()) for kind in MEDIA_TYPES]
    )


class FilesAdmin(DraftAdmin):
    """The pages of a table with its files: import, its confirmation, and export."""

    change_list_template: ClassVar[str] = "admin/studio/files_list.html"

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        views = {
            "import": self.import_view,
            "process_import": self.confirm_view,
            "export": self.export_view,
        }
        pages = [
            path(f"{page}/", self.admin_site.admin_view(view), name=f"{name}_{page}")
            for page, view in views.items()
        ]
        return [*pages, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        may_import = {"has_import_permission": self.has_change_permission(request)}
        return super().changelist_view(request, {**may_import, **(extra_context or {})})

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Choose a file; posted, show what it would change, or what is wrong with it."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        form = ImportForm(request.POST or None, request.FILES or None)
        if not form.is_valid():
            return self._import_page(request, form=form)
        file: UploadedFile[bytes] = form.cleaned_data["file"]
        name = file.name or ""
        # Of a file that is too large only so much is read that it is refused.
        data = file.read(MAX_BYTES + 1)
        source = read(_ENDINGS[name.rpartition(".")[2].lower()], self.table, data)
        rows = table_rows(self.table, source)
        plan = plan_import(rows, by=member(request))
        problems = table_problems(self.table, source, plan, name)
        if problems:
            return self._import_page(request, form=form, problems=problems)
        token = uuid4()
        cache.set(self._cache_key(request, token), rows, _KEEP_SECONDS)
        confirm = ConfirmForm(initial={"token": token, "seen": plan.fingerprint})
        warnings = [*ignored_columns(self.table, source), *service_warnings(plan)]
        context = {
            "plan": plan,
            "certain": sum(not entry.needs_choice(member(request)) for entry in plan.entries),
            "rows": len(source.rows),
            "warnings": warnings,
        }
        return self._import_page(request, form=form, confirm_form=confirm, **context)

    def confirm_view(self, request: HttpRequest) -> HttpResponse:
        """Import the rows of a preview."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        form = ConfirmForm(request.POST)
        key = self._cache_key(request, form.cleaned_data["token"]) if form.is_valid() else ""
        rows = cache.get(key)
        if rows is None:
            messages.error(request, gettext("The file is no longer kept here. Choose it again."))
            return redirect(self._url("import"))
        plan, problem, chosen = None, "", request.POST.getlist("take")
        try:
            plan = write_import(
                rows,
                by=member(request),
                expected_fingerprint=form.cleaned_data["seen"],
                chosen=None if ALL in chosen else chosen,
            )
        except (Moved, OutOfScope) as error:
            problem = str(error)
        if plan is None or plan.problems[self.table]:
            problem = (
                problem or "somebody changed these entries after the preview: look at it again"
            )
            return self._import_page(request, form=ImportForm(), problems=[problem])
        cache.delete(key)
        added, changed, same = plan.counts[self.table].values()
        if not added + changed:
            message = gettext("Nothing was imported: no box was ticked.")
            messages.warning(request, message)
            return redirect(self._url("import"))
        message = gettext("Imported: {new} new, {changed} changed, {same} as before.")
        messages.success(
            request, message.format(new=f"{added:,}", changed=f"{changed:,}", same=f"{same:,}")
        )
        for warning in service_warnings(plan):
            messages.warning(request, warning)
        return redirect(self._url("changelist"))

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """Ask for a format, or send the file; with filters that there are not, go to the list."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            rows = self.get_changelist_instance(request).queryset.defer(None)
        except IncorrectLookupParameters:
            message = gettext("There are no such filters. Choose what to export here.")
            messages.error(request, message)
            return redirect(self._url("changelist"))
        form = ExportForm(request.POST or None)
        if form.is_valid():
            kind = form.cleaned_data["format"]
            try:
                file = export(kind, self.table, rows)
            except ValueError as error:
                form.add_error(None, str(error))
            else:
                name = f'attachment; filename="{self.table}.{kind}"'
                headers = {"Content-Disposition": name}
                return HttpResponse(file, content_type=MEDIA_TYPES[kind], headers=headers)
        return self._page(request, "export", gettext("Export"), form=form)

    def _import_page(self, request: HttpRequest, **context: Any) -> TemplateResponse:
        columns = list(COLUMNS[self.table])
        return self._page(request, "import", gettext("Import"), columns=columns, **context)

    def _page(
        self, request: HttpRequest, name: str, title: str, **context: Any
    ) -> TemplateResponse:
        page_context = {**self.admin_site.each_context(request), "title": title, "opts": self.opts}
        return TemplateResponse(request, f"admin/studio/{name}.html", {**page_context, **context})

    def _url(self, page: str) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}")

    def _cache_key(self, request: HttpRequest, token: UUID) -> str:
        return f"import:{self.table}:{member(request).pk}:{token}"

"""Import and export in the admin: a preview first, and nothing is written while anything is wrong.

Until it is confirmed the uploaded file is kept in the cache, which all web processes see, for an
hour; then the page asks for the file again.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from import_export.admin import ImportExportMixin
from import_export.forms import ConfirmImportForm, ExportForm
from import_export.tmp_storages import CacheStorage

from ieim.studio.admin.base import DraftAdmin
from ieim.studio.exchange.files import MAX_BYTES, TableFormat, Unreadable, formats_of
from ieim.studio.exchange.importing import DraftResource, Preview, resource_of

_FORMATS = 4


class Expired(Exception):
    """The uploaded file is no longer kept."""


class KeptFile(CacheStorage):
    CACHE_LIFETIME = 3600  # seconds

    def read(self) -> bytes:
        """Return the file. Raises :class:`Expired`."""
        data: bytes | None = super().read()
        if data is None:
            raise Expired
        return data


class Confirm(ConfirmImportForm):
    """What a preview hands to the import: ``seen`` is the draft that it was compared with."""

    seen = forms.CharField(widget=forms.HiddenInput)
    format = forms.TypedChoiceField(
        choices=[(str(n), n) for n in range(_FORMATS)], widget=forms.HiddenInput
    )


class FilesAdmin(ImportExportMixin, DraftAdmin):
    import_template_name = "admin/studio/import.html"
    tmp_storage_class = KeptFile
    confirm_form_class = Confirm
    export_form_class = ExportForm
    skip_admin_log = True

    def get_resource_classes(self, request: HttpRequest) -> list[type[DraftResource]]:
        return [resource_of(self.table)]

    def get_import_formats(self) -> list[type[TableFormat]]:
        return formats_of(self.table)

    get_export_formats = get_import_formats

    def get_export_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return what the list shows, with the columns that it leaves out."""
        rows: QuerySet[Any] = super().get_export_queryset(request)
        return rows.defer(None)

    def get_export_filename(self, request: HttpRequest, queryset: Any, file_format: Any) -> str:
        return f"{self.table}.{file_format.get_extension()}"

    def has_import_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def has_export_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def get_import_resource_kwargs(self, request: HttpRequest, **kwargs: Any) -> dict[str, Any]:
        form = kwargs.get("form")
        data = getattr(form, "cleaned_data", {})
        return {"by": request.user, "seen": data.get("seen", "")}

    def add_data_read_fail_error_to_form(self, form: forms.Form, e: Exception) -> None:
        if not isinstance(e, Unreadable):
            raise e
        name = form.cleaned_data["import_file"].name
        for problem in e.problems:
            place = ", ".join(filter(None, [name, problem.file]))
            line = "" if problem.line is None else f":{problem.line}"
            form.add_error("import_file", f"{place}{line}: {problem.message}")

    def write_to_tmp_storage(self, import_file: Any, input_format: Any) -> KeptFile:
        """Keep the file; of one that is too large, only so much that reading it says so."""
        storage = KeptFile(read_mode="rb")
        storage.save(import_file.read(MAX_BYTES + 1))
        return storage

    def import_action(self, request: HttpRequest, **kwargs: Any) -> TemplateResponse:
        page: TemplateResponse = super().import_action(request, **kwargs)
        context = page.context_data or {}
        if "confirm_form" in context:
            context["confirm_form"].initial["seen"] = context["result"].seen
        return page

    def export_action(self, request: HttpRequest) -> HttpResponse:
        """Ask for a format, or send the file; with filters that there are not, go to the list."""
        try:
            page: HttpResponse = super().export_action(request)
        except IncorrectLookupParameters:
            message = gettext("There are no such filters. Choose what to export here.")
            messages.error(request, message)
            name = f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"
            return HttpResponseRedirect(reverse(name))
        return page

    def process_import(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            page: HttpResponse = super().process_import(request, **kwargs)
        except Expired:
            message = gettext("The file is no longer kept here. Choose it again.")
            messages.error(request, message)
            name = f"admin:{self.opts.app_label}_{self.opts.model_name}_import"
            return HttpResponseRedirect(reverse(name))
        return page

    def process_result(self, result: Preview, request: HttpRequest) -> HttpResponse:
        if not result.has_errors():
            page: HttpResponse = super().process_result(result, request)
            return page
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Import"),
            "opts": self.opts,
            "form": self.create_import_form(request),
            "result": result,
        }
        return TemplateResponse(request, [self.import_template_name], context)

    def add_success_message(self, result: Preview, request: HttpRequest) -> None:
        new = sum(planned.new for planned in result.planned)
        same = result.total_rows - len(result.planned)
        message = gettext("Imported: {new} new, {changed} changed, {same} as before.")
        changed = len(result.planned) - new
        messages.success(
            request, message.format(new=f"{new:,}", changed=f"{changed:,}", same=f"{same:,}")
        )
        for warning in result.warnings:
            messages.warning(request, warning)

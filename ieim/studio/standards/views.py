"""The pages of an import: choose a file, look at what it would change, confirm.

Between preview and confirmation the rows that the file became, and the report, are in the cache,
one import a person: a browser need not send a large file twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import messages
from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_http_methods

from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.knowledge.bundles.rows import Table
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.studio.drafts.editing import OutOfScope
from ieim.studio.exchange.importing import ALL, Moved, Plan
from ieim.studio.labels import column_label, table_label
from ieim.studio.models import DRAFT_MODELS, Agency
from ieim.studio.standards.report import Note, Problem, StandardError
from ieim.studio.standards.rows import Mapped
from ieim.studio.standards.services import merge, plan, read_standard

app_name = "standards"

_KEEP_SECONDS = 3600

SHOWN = 100
"""How many entries of a table, and how many problems, a page lists."""

_TABLES: dict[Table, str] = {
    "agencies": gettext_noop("Agencies"),
    "dictionary": gettext_noop("Dictionary"),
    "services": gettext_noop("Services"),
    "translations": gettext_noop("Translations"),
    "situations": gettext_noop("Situations"),
}


class UploadForm(forms.Form):
    """A file, and whose it is: people of single agencies import into theirs only."""

    file = forms.FileField(error_messages={"required": gettext_lazy("Choose a file.")})

    def __init__(self, user: User, *args: Any) -> None:
        super().__init__(*args)
        scope, agencies = agencies_of(user), Agency.objects.values_list("id", "name")
        every = [("", gettext("The agencies that the file names")), *agencies]
        self.fields["agency"] = forms.ChoiceField(
            required=scope is not None,
            choices=every if scope is None else list(agencies.filter(pk__in=scope)),
            error_messages={
                "required": gettext("Choose the agency that the file is for."),
                "invalid_choice": gettext("Choose an agency of the list."),
            },
        )

    def clean_file(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 2**20
            message = gettext("The file is larger than {limit} MiB: split it.")
            raise forms.ValidationError(message.format(limit=limit))
        return file


@dataclass(frozen=True, slots=True)
class Pending:
    """An import that waits for its confirmation."""

    file: str
    mapped: Mapped
    notes: list[Note]


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    """Choose a file; 422 with every problem where it cannot be used."""
    if request.method != "POST":
        return _upload_page(request, UploadForm(member(request)), status=200)
    form = UploadForm(member(request), request.POST, request.FILES)
    if not form.is_valid():
        return _upload_page(request, form)
    file, agency = form.cleaned_data["file"], form.cleaned_data["agency"]
    try:
        mapped, report = read_standard(file.read(), into=agency or None)
        plan(mapped)
    except StandardError as error:
        return _upload_page(request, form, file.name, error.problems)
    pending = Pending(file.name[:200], mapped, report.notes)
    cache.set(_cache_key(request), pending, _KEEP_SECONDS)
    return redirect("standards:preview")


@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest) -> HttpResponse:
    """What the uploaded file would change; posted, do it. Without a file, ask for one."""
    pending: Pending | None = cache.get(_cache_key(request))
    if pending is None:
        messages.error(request, gettext("Choose the file again: it was kept for an hour."))
        return redirect("standards:upload")
    if request.method == "POST" and "cancel" in request.POST:
        cache.delete(_cache_key(request))
        return redirect("standards:upload")
    notice = ""
    try:
        if request.method == "POST":
            try:
                return _imported(request, pending.mapped)
            except Moved as moved:
                notice = str(moved) or gettext(
                    "The draft was changed since you looked. This is what the import would do now."
                )
        planned = plan(pending.mapped)
    except (StandardError, OutOfScope) as error:
        problems = getattr(error, "problems", [Problem("", str(error))])
        return _upload_page(request, UploadForm(member(request)), pending.file, problems)
    context = {
        "file": pending.file,
        "standard": pending.mapped.standard,
        "plan": planned,
        "certain": sum(not entry.needs_choice(member(request)) for entry in planned.entries),
        "tables": [_table(table, planned) for table in planned.counts],
        "notes": [(what, list(n)) for what, n in groupby(pending.notes, attrgetter("what"))],
        "notice": notice,
    }
    return render(request, "studio/standards/preview.html", context, status=409 if notice else 200)


def _imported(request: HttpRequest, mapped: Mapped) -> HttpResponse:
    chosen = request.POST.getlist("take")
    imported = merge(
        mapped=mapped,
        by=member(request),
        expected_fingerprint=request.POST.get("fingerprint", ""),
        chosen=None if ALL in chosen else chosen,
    )
    if not imported.entries:
        messages.warning(request, gettext("Nothing was imported: no box was ticked."))
        return redirect("standards:preview")
    cache.delete(_cache_key(request))
    added = sum(entry.is_new for entry in imported.entries)
    message = ngettext(
        "Imported into the draft: {added} entry added, {changed} changed.",
        "Imported into the draft: {added} entries added, {changed} changed.",
        added,
    )
    changed = len(imported.entries) - added
    messages.success(request, message.format(added=f"{added:,}", changed=f"{changed:,}"))
    return redirect("standards:upload")


urlpatterns = [path("", upload, name="upload"), path("preview/", preview, name="preview")]


def _upload_page(
    request: HttpRequest,
    form: UploadForm,
    file: str = "",
    problems: Sequence[Problem] = (),
    *,
    status: int = 422,
) -> HttpResponse:
    context = {
        "form": form,
        "file": file,
        "problems": problems[:SHOWN],
        "more_problems": max(0, len(problems) - SHOWN),
        "tables": [
            (table_label(table), reverse(f"admin:studio_{model._meta.model_name}_import"))
            for table, model in DRAFT_MODELS.items()
            if request.user.has_perm(f"studio.change_{model._meta.model_name}")
        ],
    }
    return render(request, "studio/standards/upload.html", context, status=status)


def _table(table: Table, planned: Plan) -> dict[str, Any]:
    entries = [entry for entry in planned.entries if entry.table == table]
    return {
        "name": gettext(_TABLES[table]),
        "counts": planned.counts[table],
        "entries": [
            {
                "name": entry.name,
                "title": entry.values.get("name") or entry.values.get("value") or entry.name,
                "is_new": entry.is_new,
                "is_edited": entry.is_persons,
                "removal": entry.removal,
                "choice": entry.choice(),
                "fields": [(column_label(name), *texts) for name, *texts in entry.shown],
            }
            for entry in entries[:SHOWN]
        ],
        "more": max(0, len(entries) - SHOWN),
    }


def _cache_key(request: HttpRequest) -> str:
    return f"standards:{member(request).pk}"

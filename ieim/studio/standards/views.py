"""The pages of an import: choose a file, look at what it would change, confirm.

Between preview and confirmation the rows that the file became, and the report, are kept in a
server-side session of their own, so in the database: every web process finds them, a restart does
not lose them, and a browser need not send a large file twice. The person's session has its key.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import groupby
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.sessions.backends.base import SessionBase
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_http_methods

from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.studio.drafts.editing import OutOfScope
from ieim.studio.drafts.history import readable
from ieim.studio.models import Agency
from ieim.studio.pages.labels import column
from ieim.studio.standards.reading import read_standard
from ieim.studio.standards.report import Note, Problem, Report, StandardError
from ieim.studio.standards.rows import Mapped
from ieim.studio.standards.services import Moved, Plan, Planned, merge, plan

app_name = "standards"

KEPT_SECONDS = 3600
_SESSION_KEY = "standards_import"

SHOWN = 100
"""How many entries of a table, and how many problems, a page lists."""

_TABLES = {
    "agencies": gettext_noop("Agencies"),
    "dictionary": gettext_noop("Dictionary"),
    "services": gettext_noop("Services"),
    "translations": gettext_noop("Translations"),
    "situations": gettext_noop("Situations"),
}


class UploadForm(forms.Form):
    """A file, and whose it is: people of single agencies import into theirs only."""

    file = forms.FileField(error_messages={"required": gettext_lazy("Choose a file.")})
    agency = forms.ChoiceField(
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Choose an agency of the list.")},
    )

    def __init__(self, user: User, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        scope = agencies_of(user)
        agencies = Agency.objects.values_list("id", "name")
        choices = list(agencies if scope is None else agencies.filter(pk__in=scope))
        field = self.fields["agency"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - it is the one above
        all_of_it = ("", gettext("The agencies that the file names"))
        field.choices = choices if scope is not None else [all_of_it, *choices]
        field.required = scope is not None
        field.error_messages["required"] = gettext("Choose the agency that the file is for.")

    def clean_file(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 2**20
            message = gettext("The file is larger than {limit} MiB: split it.")
            raise forms.ValidationError(message.format(limit=limit))
        return file


@dataclass(frozen=True, slots=True)
class Pending:
    file: str
    mapped: Mapped
    notes: list[Note]


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    """Choose a file; 422 with every problem where it cannot be used."""
    posted = request.method == "POST"
    sent = (request.POST, request.FILES) if posted else ()
    form = UploadForm(member(request), *sent)
    problems: list[Problem] = []
    name = ""
    if posted and form.is_valid():
        file, agency = form.cleaned_data["file"], form.cleaned_data["agency"]
        try:
            mapped, report = read_standard(file.read(), into=agency or None)
            plan(mapped)
        except StandardError as error:
            name, problems = file.name, error.problems
        else:
            _keep(request.session, file.name, mapped, report)
            return redirect("standards:preview")
    return _upload_page(request, form, name, problems, status=422 if posted else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest) -> HttpResponse:
    """What the uploaded file would change; posted, do it. Without a file, ask for one."""
    pending = _pending(request.session)
    if pending is None:
        messages.error(request, gettext("Choose the file again: it was kept for an hour."))
        return redirect("standards:upload")
    notice = ""
    try:
        if request.method == "POST":
            if "cancel" in request.POST:
                _drop(request.session)
                return redirect("standards:upload")
            try:
                seen = request.POST.get("fingerprint", "")
                done = merge(mapped=pending.mapped, by=member(request), seen=seen)
            except Moved:
                notice = gettext(
                    "The draft was changed since you looked. This is what the import would do now."
                )
            else:
                _drop(request.session)
                messages.success(request, _done(done))
                return redirect("standards:upload")
        planned = plan(pending.mapped)
    except (StandardError, OutOfScope) as error:
        problems = getattr(error, "problems", [Problem("", str(error))])
        return _upload_page(
            request, UploadForm(member(request)), pending.file, problems, status=422
        )
    context = {
        "file": pending.file,
        "standard": pending.mapped.standard,
        "plan": planned,
        "tables": _tables(planned),
        "notes": [
            (what, list(notes)) for what, notes in groupby(pending.notes, lambda note: note.what)
        ],
        "notice": notice,
    }
    return render(request, "studio/standards/preview.html", context, status=409 if notice else 200)


urlpatterns = [
    path("", upload, name="upload"),
    path("preview/", preview, name="preview"),
]


def _upload_page(
    request: HttpRequest, form: UploadForm, file: str, problems: list[Problem], *, status: int
) -> HttpResponse:
    context = {
        "form": form,
        "file": file,
        "problems": problems[:SHOWN],
        "more_problems": max(0, len(problems) - SHOWN),
    }
    return render(request, "studio/standards/upload.html", context, status=status)


def _tables(planned: Plan) -> list[dict[str, Any]]:
    found = []
    for table, counts in planned.counts.items():
        entries = [entry for entry in planned.entries if entry.table == table]
        found.append(
            {
                "name": gettext(_TABLES[table]),
                "counts": counts,
                "entries": [_entry(entry) for entry in entries[:SHOWN]],
                "more": max(0, len(entries) - SHOWN),
            }
        )
    return found


def _entry(entry: Planned) -> dict[str, Any]:
    fields = [(column(name), *texts) for name, *texts in readable(entry.fields)]
    title = entry.given.get("name") or entry.given.get("value") or entry.name
    return {"name": entry.name, "title": title, "is_new": entry.is_new, "fields": fields}


def _done(done: Plan) -> str:
    added = sum(entry.is_new for entry in done.entries)
    message = ngettext(
        "Imported into the draft: {added} entry added, {changed} changed.",
        "Imported into the draft: {added} entries added, {changed} changed.",
        added,
    )
    return message.format(added=f"{added:,}", changed=f"{len(done.entries) - added:,}")


def _keep(session: SessionBase, file: str, mapped: Mapped, report: Report) -> None:
    """Keep an import for the person whose ``session`` it is, instead of an earlier one."""
    _drop(session)
    upload = _store(None)
    upload["file"] = file[:200]
    upload["standard"] = mapped.standard
    upload["rows"] = [
        [table, values, mapped.pointers[table, identity]]
        for table, rows in mapped.rows.items()
        for identity, values in rows.items()
    ]
    upload["notes"] = [asdict(note) for note in report.notes]
    upload.set_expiry(KEPT_SECONDS)
    upload.create()
    session[_SESSION_KEY] = upload.session_key


def _pending(session: SessionBase) -> Pending | None:
    """Return the person's import, None when there is none or it was kept too long."""
    key = session.get(_SESSION_KEY)
    upload: Any = _store(key) if isinstance(key, str) else {}
    if "rows" not in upload:
        return None
    mapped = Mapped(upload["standard"])
    for table, values, pointer in upload["rows"]:
        mapped.put(table, values, pointer)
    return Pending(upload["file"], mapped, [Note(**note) for note in upload["notes"]])


def _drop(session: SessionBase) -> None:
    key = session.pop(_SESSION_KEY, None)
    if isinstance(key, str):
        _store(key).delete()


def _store(key: str | None) -> SessionBase:
    store: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return store

"""The pages of an import: a file, what it would change, yes."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_noop, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from ieim.people.access import member
from ieim.studio.drafts.editing import OutOfScope
from ieim.studio.pages.words import column
from ieim.studio.standards import pending
from ieim.studio.standards.forms import UploadForm
from ieim.studio.standards.merging import Moved, Plan, Planned, merge, plan
from ieim.studio.standards.reading.reading import read_standard
from ieim.studio.standards.report import Problem, StandardError

SHOWN = 100
"""How many entries of a table, and how many problems, a page lists."""

_TABLES = {
    "agencies": gettext_noop("Agencies"),
    "dictionary": gettext_noop("Dictionary"),
    "services": gettext_noop("Services"),
    "translations": gettext_noop("Translations"),
}


@never_cache
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
            pending.put(request.session, file=file.name, mapped=mapped, report=report)
            return redirect("standards:preview")
    context = {"form": form, "file": name, **_listed(problems)}
    return render(request, "studio/standards/upload.html", context, status=422 if posted else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest) -> HttpResponse:
    """What the uploaded file would change; posted, do it. Without a file, ask for one."""
    kept = pending.get(request.session)
    if kept is None:
        messages.error(request, gettext("Choose the file again: it was kept for an hour."))
        return redirect("standards:upload")
    notice = ""
    try:
        if request.method == "POST":
            if "cancel" in request.POST:
                pending.drop(request.session)
                return redirect("standards:upload")
            try:
                seen = request.POST.get("fingerprint", "")
                done = merge(mapped=kept.mapped, by=member(request), seen=seen)
            except Moved:
                notice = gettext(
                    "The draft was changed since you looked. This is what the import would do now."
                )
            else:
                pending.drop(request.session)
                messages.success(request, _done(done))
                return redirect("standards:upload")
        planned = plan(kept.mapped)
    except StandardError as error:
        return _refused(request, kept.file, error.problems)
    except OutOfScope as error:
        return _refused(request, kept.file, [Problem("", str(error))])
    context = {
        "file": kept.file,
        "standard": kept.mapped.standard,
        "plan": planned,
        "tables": _tables(planned),
        "notes": [
            (what, list(notes)) for what, notes in groupby(kept.notes, lambda note: note.what.value)
        ],
        "notice": notice,
    }
    return render(request, "studio/standards/preview.html", context, status=409 if notice else 200)


def _refused(request: HttpRequest, file: str, problems: list[Problem]) -> HttpResponse:
    form = UploadForm(member(request))
    context = {"form": form, "file": file, **_listed(problems)}
    return render(request, "studio/standards/upload.html", context, status=422)


def _listed(problems: list[Problem]) -> dict[str, Any]:
    return {"problems": problems[:SHOWN], "more_problems": max(0, len(problems) - SHOWN)}


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
    fields = [
        (column(name), _lines(before), _lines(after))
        for name, (before, after) in entry.fields.items()
    ]
    title = entry.given.get("name") or entry.given.get("value") or entry.name
    return {"name": entry.name, "title": title, "is_new": entry.is_new, "fields": fields}


def _lines(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _done(done: Plan) -> str:
    added = sum(entry.is_new for entry in done.entries)
    changed = len(done.entries) - added
    told = ngettext(
        "Imported into the draft: {added} entry added, {changed} changed.",
        "Imported into the draft: {added} entries added, {changed} changed.",
        added,
    )
    return told.format(added=f"{added:,}", changed=f"{changed:,}")

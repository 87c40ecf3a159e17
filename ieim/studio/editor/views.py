"""The page of one agency, category, service or situation of the draft: read, preview and edit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, register_converter, reverse
from django.utils.text import slugify
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from ieim.knowledge.bundles.rows import IDENTITY, Table
from ieim.people.access import member
from ieim.people.reading import record_listed
from ieim.people.scope import agencies_of, works_for
from ieim.people.sessions import take_unsaved
from ieim.pipeline.message.screen import refusal
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import editing, sets
from ieim.studio.drafts.entries import (
    Problem,
    attribute,
    column_values,
    dependants,
    referring,
    removal_problem,
    stored_as,
)
from ieim.studio.drafts.history import agency_of, last_change, stale_message
from ieim.studio.drafts.merging import WHOLE
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.editor import presenters, services
from ieim.studio.editor.addresses import NAMES, IdConverter, edit_url
from ieim.studio.editor.forms import (
    AgencyForm,
    CategoryForm,
    DraftForm,
    OwnTranslationForm,
    ServiceForm,
    SituationForm,
    sentence,
)
from ieim.studio.editor.merging import Merge, merge
from ieim.studio.editor.questions import QuestionOwner, owner_columns, text_of
from ieim.studio.editor.ranking import QuestionReport, rank_questions
from ieim.studio.editor.warnings import warnings_of
from ieim.studio.gaps import selectors as gaps
from ieim.studio.labels import column_label, language_label, table_label
from ieim.studio.models import (
    DRAFT_MODELS,
    Agency,
    Change,
    DraftEntry,
    Gap,
    Service,
    Situation,
    Translation,
)
from ieim.studio.translating import selectors as translating
from ieim.studio.webpages.selectors import sources

FORMS: dict[Table, type[DraftForm]] = {
    "agencies": AgencyForm,
    "dictionary": CategoryForm,
    "services": ServiceForm,
    "situations": SituationForm,
    "translations": OwnTranslationForm,
}
READ_OR_POST = require_http_methods(["GET", "HEAD", "POST"])


@READ_OR_POST
def entry(request: HttpRequest, table: Table, **identity: str) -> HttpResponse:
    """Show or save a stored entry, with the question of the gap that a service is corrected for.

    One that somebody has removed meanwhile comes back as a new one, with what was typed.
    """
    model = DRAFT_MODELS[table]
    columns = {attribute(name): stored_as(name, value) for name, value in identity.items()}
    stored = model._default_manager.filter(**columns).first()
    if stored is not None or table == "translations":
        initial = _questions_of(_gap(request), table, request)
        return _page(request, stored or model(**columns), initial=initial)
    name = entry_name(table, identity)
    is_removed = Change.objects.filter(table=table, entry=name, kind=Change.Kind.REMOVED).exists()
    if request.method != "POST" or not is_removed:
        raise Http404("There is no such entry in the draft.")
    request.POST = request.POST.copy()  # type: ignore[assignment]  # immutable until it is copied
    request.POST.update(identity)
    message = "" if "again" in request.POST else stale_message(table, name)
    return _page(request, model(**columns), removed=message)


@READ_OR_POST
def translation(request: HttpRequest) -> HttpResponse:
    """Show or save a translation beside its original; the address has its natural id."""
    identity = {name: request.GET.get(name, "") for name in IDENTITY["translations"]}
    if _translated(identity) is None:
        raise Http404("There is nothing of this kind to translate, or not into this language.")
    return entry(request, "translations", **identity)


def _translated(identity: Mapping[str, str]) -> translating.Entry | None:
    """Return the texts of the draft beside the translation of an ``identity``."""
    language, agency, category, service, situation = (
        identity[name] for name in IDENTITY["translations"]
    )
    bundle, owner = drafts.draft().bundle, (agency, category, service or situation)
    is_target = language in translating.target_languages(bundle)
    rows = translating.entries(bundle, language) if is_target else ()
    return next((row for row in rows if row.owner == owner), None)


@READ_OR_POST
def new(request: HttpRequest, table: Table) -> HttpResponse:
    """Show or save the form of a new entry, of the agency that the address names, or with the
    question of the gap that a service is to fill."""
    model = DRAFT_MODELS[table]
    gap = _gap(request)
    name = request.GET.get("agency", "") if gap is None else gap.group.agency
    scope = agencies_of(request.user)
    offered = Agency.objects.all() if scope is None else Agency.objects.filter(pk__in=scope)
    agency = Agency.objects.filter(pk=name).first()
    if agency is None and offered.count() == 1:
        agency = offered.get()
    known = {"agency_id": agency.pk} if agency and "agency" in IDENTITY[table] else {}
    return _page(request, model(**known), initial=_questions_of(gap, table, request))


def _gap(request: HttpRequest) -> Gap | None:
    return gaps.gap_of(request.GET.get("gap", ""), member(request))


def _questions_of(gap: Gap | None, table: Table, request: HttpRequest) -> dict[str, Any]:
    """Return the initial values of a form with the question of a gap, with the record that it was
    read."""
    if gap is None or table != "services":
        return {}
    record_listed(gaps.LISTED, "turns", [gap.turn_id], member(request))
    text, language = " ".join(gap.text.split()), gap.group.language
    return {"questions": [f"{language}: {text}" if language else text]}


@READ_OR_POST
def delete(request: HttpRequest, table: Table, **identity: str) -> HttpResponse:
    """Say what goes with an entry and what refers to it; sent, remove it where nothing does."""
    columns = {attribute(name): value for name, value in identity.items()}
    stored = DRAFT_MODELS[table]._default_manager.filter(**columns).first()
    if stored is None:
        raise Http404("There is no such entry in the draft.")
    if not _may_delete(request, stored):
        raise PermissionDenied
    blocking = removal_problem(table, identity)
    problems = [sentence(blocking)] if blocking else []
    if request.method == "POST":
        seen = request.POST.get("seen", "")
        try:
            editing.remove(
                table=table,
                identity=identity,
                by=member(request),
                expected_version=int(seen) if seen.isdecimal() and len(seen) < 10 else 0,
                source=Change.Source.ADMIN,
            )
        except (editing.Stale, editing.Invalid) as error:
            problems = [sentence(str(error))]
        else:
            message = gettext("“{entry}” is deleted in the draft.")
            messages.success(request, message.format(entry=stored))
            home = reverse("dictionary:home" if table == "dictionary" else "knowledge:services")
            query = urlencode({"agency": identity["agency"]}) if "agency" in identity else ""
            return redirect(f"{home}?{query}")
    context = {
        "name": str(stored),
        "category": identity if table == "dictionary" else None,
        "url": edit_url(table, list(identity.values())),
        "version": stored.version,
        "is_blocked": bool(blocking),
        "problems": problems,
        "referring": [
            (str(row), edit_url(row.table, list(_identity(row).values())))
            for row in referring(table, identity)
        ],
        "groups": [
            (table_label(group.table), list(group.stored.values()))
            for group in dependants(table, identity)
            if group.stored
        ],
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "studio/editor/delete.html", context, status=status)


def _page(
    request: HttpRequest,
    stored: DraftEntry,
    *,
    removed: str = "",
    initial: Mapping[str, Any] | None = None,
) -> HttpResponse:
    scope = agencies_of(request.user)
    may_edit = _may_edit(request, stored, scope)
    if (stored._state.adding or request.method == "POST") and not may_edit:
        raise PermissionDenied
    if request.method == "GET" and (unsaved := take_unsaved(request)) is not None:
        unsaved["do"] = "restore"  # it is shown, and saved by a press alone
        request.method = "POST"
        request.POST = unsaved  # type: ignore[assignment]  # as above
    posted, merged = _posted(request, stored)
    form = _form(posted, stored, scope, initial or {})
    is_valid = posted is not None and form.is_valid()
    do = request.POST.get("do", "save") if posted is not None else ""
    if do == "save" and is_valid and not merged.open and not removed:
        try:
            saved = services.save(form=form, by=member(request))
        except editing.Invalid as error:
            form.show_problems(error.problems)
        except editing.Stale:
            # Somebody saved while this request was under way: what they wrote is merged, too.
            return entry(request, stored.table, **_identity(stored))
        else:
            return _saved(request, saved, merged)
    if removed:
        hint = gettext("Nothing was saved. What you typed is still here: save to add it again.")
        form.show_problems({"": [Problem.of(f"{sentence(removed)} {hint}")]})
    context = _context(stored, form, merged)
    if do == "ranking" and isinstance(stored, Service | Situation):
        context["ranking"] = _ranking(form, stored)
    if request.headers.get("HX-Request"):
        part = "ranking" if do == "ranking" else "live"
        return render(request, f"studio/editor/_parts.html#{part}", context)
    context |= {
        "may_edit": may_edit,
        "is_shared": not agency_of(stored.table, _identity(stored)),
        "is_posted": posted is not None,
        "again": bool(removed) or "again" in request.POST,
    }
    if not stored._state.adding:
        context["links"] = presenters.related(stored, may_edit=may_edit)
        if stored.table in NAMES and _may_delete(request, stored):
            name = f"editor:delete_{NAMES[stored.table]}"
            url = reverse(name, args=list(_identity(stored).values()))
            context["links"].append((gettext("Delete"), url))
        context["history"] = presenters.history(stored.table, _identity(stored))
        context["translations"] = _translations_of(stored)
        name = entry_name(stored.table, _identity(stored))
        context["source"] = sources([name], scope).get((stored.table, name))
    status = 422 if do == "save" else 200
    return render(request, "studio/editor/entry.html", context, status=status)


def _translations_of(stored: DraftEntry) -> int:
    """Return the number of translations that get out of date with their original."""
    if stored.table == "situations":
        return 0
    key = getattr(stored, "key", "")
    return Translation.objects.filter(
        agency=agency_of(stored.table, _identity(stored)),
        category=key if stored.table == "dictionary" else "",
        service=key if stored.table == "services" else "",
    ).count()


def _may_edit(request: HttpRequest, stored: DraftEntry, scope: frozenset[str] | None) -> bool:
    is_new, table = stored._state.adding, stored.table
    action = f"{'add' if is_new else 'change'}_{stored._meta.model_name}"
    owner = agency_of(table, _identity(stored))
    # The agency of a new entry may still be chosen from those of the person.
    in_scope = bool(scope) and is_new and not owner and table in ("services", "dictionary")
    in_scope = in_scope or editing.permits(scope, table, owner, new=is_new)
    return in_scope and member(request).has_perm(f"studio.{action}")


def _may_delete(request: HttpRequest, stored: DraftEntry) -> bool:
    owner = "" if isinstance(stored, Agency) else agency_of(stored.table, _identity(stored))
    user = member(request)
    return works_for(user, owner) and user.has_perm(f"studio.delete_{stored._meta.model_name}")


def _identity(stored: DraftEntry) -> dict[str, str]:
    return {name: getattr(stored, attribute(name)) or "" for name in IDENTITY[stored.table]}


def _context(stored: DraftEntry, form: DraftForm, merged: Merge) -> dict[str, Any]:
    table, is_new = stored.table, stored._state.adding
    values = form.values() if form.is_bound else column_values(stored)
    if form.is_bound and form.data.get("do") == "preview":
        # What is still to be filled in is no mistake yet.
        for name in set(form.errors) - set(form.changed_data):
            del form.errors[name]
    identity = _identity(stored)
    name = entry_name(table, identity)
    beside = _translated(identity) if table == "translations" else None
    originals = {text.field: text for text in beside.texts} if beside else {}
    warnings = warnings_of(table, values, new=is_new)
    return {
        "form": form,
        "table": table,
        "kind": table_label(table),
        "new": is_new,
        "name": f"{beside.name}: {language_label(identity['language'])}" if beside else str(stored),
        "entry": " ".join(filter(None, beside.owner)) if beside else name,
        "version": stored.version,
        "conflict": last_change(table, name, [*merged.open]) if merged.open else "",
        "card": presenters.card(table, values),
        "fields": presenters.field_views(form, merged, warnings, originals),
    }


def _posted(request: HttpRequest, stored: DraftEntry) -> tuple[QueryDict | None, Merge]:
    """Return the posted form, merged with what others have saved; a new entry gets a key."""
    if request.method != "POST":
        return None, Merge()
    typed: QueryDict = request.POST.copy()
    if (pick := typed.get("pick", "").strip()) and typed.get("do") != "preview":
        typed["services"] = f"{typed.get('services', '')}\n{pick}".strip()
    data, merged = merge(typed, FORMS[stored.table](instance=stored), stored)
    key = IDENTITY[stored.table][-1]
    if stored.table in NAMES and stored._state.adding and not data.get(key, "").strip():
        data = data.copy()
        data[key] = slugify(data.get("name") or data.get("value") or "", allow_unicode=True)
    return data, merged


def _form(
    posted: QueryDict | None,
    stored: DraftEntry,
    scope: frozenset[str] | None,
    initial: Mapping[str, Any],
) -> DraftForm:
    form = FORMS[stored.table](posted, instance=stored, initial=initial)
    agencies = form.fields.get("agency")
    if scope is not None and isinstance(agencies, forms.ModelChoiceField):
        agencies.queryset = Agency.objects.filter(pk__in=scope)
    key = IDENTITY[stored.table][-1]
    if stored._state.adding and key in form.fields:
        source = "value" if "value" in form.fields else "name"
        form.fields[key].widget.attrs["data-from"] = f"id_{source}"
    return form


def _where(request: HttpRequest, table: Table, entry: str) -> str:
    """Return that an entry is saved, and whose change sets have changes of it."""
    message = gettext("Saved in the draft. Citizens see it once it is published.")
    for row in sets.sets_of(table, entry):
        if row.proposal.proposed_by_id == request.user.pk:
            own = gettext("It is in your change set {number}.")
            message += " " + own.format(number=row.proposal_id)
        else:
            other = gettext("{name} changes {fields} in change set {number}.")
            fields = gettext("the whole entry")
            if WHOLE not in row.columns:
                fields = ", ".join(map(column_label, row.columns))
            name = row.proposal.proposed_by.display_name
            message += " " + other.format(name=name, fields=fields, number=row.proposal_id)
    return message


def _saved(request: HttpRequest, saved: DraftEntry, merged: Merge) -> HttpResponse:
    identity = _identity(saved)
    message = _where(request, saved.table, entry_name(saved.table, identity))
    messages.success(request, message, extra_tags="saved")
    by_change: dict[str, list[str]] = {}
    for name in merged.taken:
        changed = last_change(saved.table, entry_name(saved.table, identity), [name])
        by_change.setdefault(changed, []).append(column_label(name))
    for changed, fields in by_change.items():
        message = gettext("{what}. What they wrote is kept: {fields}.")
        messages.info(request, message.format(what=changed, fields=", ".join(fields)))
    response = redirect(edit_url(saved.table, list(identity.values())))
    response.status_code = 303
    return response


def _ranking(form: DraftForm, owner: QuestionOwner) -> QuestionReport | None:
    release = drafts.draft().release
    lines = form.fields["questions"].clean(form["questions"].value())
    texts = [text for line in lines if not refusal(text := text_of(line))]
    return rank_questions(release, owner_columns(owner), texts)


app_name = "editor"

register_converter(IdConverter, "entry_id")
_PATHS: dict[Table, tuple[str, str]] = {
    "agencies": ("agencies", "<entry_id:id>"),
    "dictionary": ("categories", "<entry_id:agency>/<entry_id:key>"),
    "services": ("services", "<entry_id:agency>/<entry_id:key>"),
    "situations": ("situations", "<entry_id:key>"),
}
urlpatterns = [
    path("translations/edit/", translation, name="translation"),
    *(
        path(f"{folder}/{ids}/", partial(entry, table=table), name=NAMES[table])
        for table, (folder, ids) in _PATHS.items()
    ),
    *(
        path(f"{folder}/{ids}/delete/", partial(delete, table=table), name=f"delete_{NAMES[table]}")
        for table, (folder, ids) in _PATHS.items()
    ),
    *(
        path(f"new/{name}/", partial(new, table=table), name=f"new_{name}")
        for table, name in NAMES.items()
    ),
]

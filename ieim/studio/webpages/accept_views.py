"""The page on which an editor takes what a web page says into the draft, beside its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import member
from ieim.people.scope import works_for
from ieim.people.sessions import take_unsaved
from ieim.pipeline.stages.entry_drafting import FIELDS
from ieim.studio.drafting.services import DraftingError
from ieim.studio.drafts import editing, sets
from ieim.studio.drafts.entries import column_values
from ieim.studio.drafts.history import shown
from ieim.studio.editor.addresses import edit_url
from ieim.studio.editor.forms import sentence
from ieim.studio.editor.presenters import card
from ieim.studio.labels import column_label
from ieim.studio.models import WebPage
from ieim.studio.webpages import accepting, nearest
from ieim.studio.webpages.accepting import LISTS, TABLES, Choice
from ieim.studio.webpages.passages import blocks

_LINK = '{} <a class="govuk-link" href="{}">{}</a>'


@require_safe
def page(request: HttpRequest, page: int) -> HttpResponse:
    """Show a page beside the entry that it says."""
    stored = _page(request, page)
    return _shown(request, stored, take_unsaved(request, reverse("webpages:take", args=[page])))


@require_POST
def take(request: HttpRequest, page: int) -> HttpResponse:
    """Write what is ticked into the draft and open the next page; 422 with what is wrong.

    Without a button pressed, show what follows of what is typed.
    """
    stored, typed, by = _page(request, page), request.POST, member(request)
    do, into = typed.get("do", ""), typed.get("into", "")
    if do not in ("take", "all"):
        return _shown(request, stored, typed)
    if into != typed.get("compared", ""):
        message = gettext("Compare the fields with those of the entry, and tick what you take.")
        return _shown(request, stored, typed, [message])
    kind, is_all = _kind(typed, stored), do == "all"
    names = [name for name in FIELDS[kind] if is_all or name in typed.getlist("take")]
    extras = [(k, v) for k, v, *_ in _extras(stored) if is_all or v in typed.getlist(k)]
    choice = Choice(
        kind=kind,
        fields={name: typed.get(f"text-{name}", "") for name in names},
        into=into,
        version=int(seen) if (seen := typed.get(f"version-{into}", "")).isdecimal() else None,
        categories=[value for name, value in extras if name == "category"],
        questions=[value for name, value in extras if name == "question"],
        passages={name: typed.get(f"passage-{name}", "").splitlines() for name in names},
    )
    sha256, again = typed.get("sha256", ""), "again" in typed
    try:
        entry = accepting.take(page_id=page, sha256=sha256, choice=choice, by=by, again=again)
    except (DraftingError, editing.OutOfScope) as error:
        return _shown(request, stored, typed, [str(error)])
    except editing.Stale as error:
        hint = gettext("Nothing is saved, and what you typed is still here: look again, then save.")
        stored.refresh_from_db()
        return _shown(request, stored, typed, [f"{error} {hint}"], again=True)
    except editing.Invalid as error:
        wrong = {n: [sentence(p.short) for p in row] for n, row in error.problems.items()}
        problems = [f"{column_label(name)}: {text}" for name, row in wrong.items() for text in row]
        return _shown(request, stored, typed, problems, wrong=wrong)
    own = sets.working_set(by)
    size = own.entries.count() if own else 0
    label = ngettext(
        "{number} entry in your change set: propose it",
        "{number} entries in your change set: propose them",
        size,
    ).format(number=size)
    message = gettext("“{name}” is in the draft.").format(name=entry)
    text = format_html(_LINK, message, reverse("knowledge:propose"), label)
    messages.success(request, text, extra_tags="saved")
    return _next(stored)


@require_POST
def leave(request: HttpRequest, page: int) -> HttpResponse:
    """Leave a page and open the next one."""
    stored = _page(request, page)
    try:
        accepting.leave(page_id=page, by=member(request))
    except DraftingError as error:
        messages.error(request, str(error))
        return redirect("webpages:page", page)
    url, message = reverse("webpages:page", args=[page]), gettext("The page is left.")
    messages.success(request, format_html(_LINK, message, url, gettext("Take it back")))
    return _next(stored)


@require_POST
def restore(request: HttpRequest, page: int) -> HttpResponse:
    """Take back that a page was left."""
    _page(request, page)
    accepting.restore(page_id=page, by=member(request))
    return redirect("webpages:page", page)


def _next(stored: WebPage) -> HttpResponse:
    following = nearest.following(stored)
    return redirect("webpages:page", following.pk) if following else redirect("webpages:home")


def _page(request: HttpRequest, pk: int) -> WebPage:
    stored = get_object_or_404(WebPage, pk=pk)
    if not works_for(member(request), stored.agency):
        raise Http404
    return stored


def _kind(typed: Mapping[str, Any], stored: WebPage) -> str:
    """Return the kind of the entry: as somebody chose it, as it is drafted, or a service."""
    kinds: tuple[str, ...] = (typed.get("kind", ""), stored.draft.get("kind", ""), "service")
    return next(kind for kind in kinds if kind in TABLES)


def _extras(stored: WebPage) -> list[tuple[str, str, str, str]]:
    """Return the categories and questions of a draft: name and value in the form, text, language;
    a category without a key is a new one."""
    new, rows = gettext("{name} (new)"), list[tuple[str, str, str, str]]()
    for category in stored.draft.get("categories", ()):
        key, text = category["key"], category["value"]
        rows.append(("category", key or text, text if key else new.format(name=text), ""))
    for question in stored.draft.get("questions", ()):
        rows.append(("question", question["text"], question["text"], question["language"]))
    return rows


def _shown(
    request: HttpRequest,
    stored: WebPage,
    typed: QueryDict | None,
    problems: Sequence[str] = (),
    *,
    wrong: Mapping[str, Sequence[str]] | None = None,
    again: bool = False,
) -> HttpResponse:
    again = again or "again" in (typed or request.GET)
    context: dict[str, Any] = {"page": stored, "problems": problems, "again": again}
    if stored.text and (again or stored.state in accepting.OPEN):
        context |= _form(request, stored, typed, wrong or {})
    if request.headers.get("HX-Request"):
        return render(request, "studio/webpages/_accept.html#live", context)
    quotes = {row["field"]: row["quotes"] for row in stored.draft.get("fields", ())}
    context |= {
        "is_web": accepting.is_web(stored),
        "next": nearest.following(stored),
        "blocks": blocks(stored, stored.rests_on or quotes),
        "changes": [(column_label(n), *sides) for n, *sides in stored.changes],
    }
    if stored.table == "services":
        key = stored.entry.removeprefix(f"{stored.agency} ")
        context["edit"] = edit_url("services", [stored.agency, key])
    elif stored.table == "agencies":
        context["edit"] = edit_url("agencies", [stored.entry])
    status = 422 if problems else 200
    return render(request, "studio/webpages/page.html", context, status=status)


def _form(
    request: HttpRequest,
    stored: WebPage,
    typed: QueryDict | None,
    wrong: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return what the template shows of the entry, as it was ``typed`` where that was sent."""
    draft, kind = stored.draft, _kind(typed or request.GET, stored)
    texts = {row["field"]: "\n".join(row["lines"]) for row in draft.get("fields", ())}
    entries, same = nearest.entries(stored, kind, texts.get("name", stored.title))
    into = same if typed is None else typed.get("into", "")
    theirs = column_values(entries[into]) if into in entries else {}
    # Ticks that were given beside another entry say nothing of this one.
    is_compared = typed is not None and typed.get("compared", "") == into
    values: dict[str, Any] = {"agency": stored.agency, "path": "", "description": "", "name": ""}
    values |= theirs
    fields = []
    for name in FIELDS[kind]:
        text, other = texts.get(name, ""), shown(theirs.get(name))
        text = typed.get(f"text-{name}", text) if typed else text
        is_ticked = name in typed.getlist("take") if typed and is_compared else not other
        if is_ticked and text.strip():
            values[name] = text.splitlines() if name in LISTS else text
        field: dict[str, Any] = {
            "name": name,
            "label": column_label(name),
            "text": text,
            "theirs": other,
        }
        field |= {"is_ticked": is_ticked, "has_quotes": name in texts, "wrong": wrong.get(name)}
        field["passage"] = typed.get(f"passage-{name}", "") if typed else ""
        fields.append(field | {"rows": min(12, 2 + text.count("\n") + len(text) // 70)})
    return {
        "kind": kind,
        "fields": fields,
        "entries": entries,
        "into": into,
        "is_compared": is_compared,
        "extras": [
            (name, value, text, language, typed is None or value in typed.getlist(name))
            for name, value, text, language in _extras(stored)
        ],
        "card": card(TABLES[kind], values),
    }


urlpatterns = [
    path("<int:page>/", page, name="page"),
    path("<int:page>/take/", take, name="take"),
    path("<int:page>/leave/", leave, name="leave"),
    path("<int:page>/restore/", restore, name="restore"),
]

"""The page on which an editor takes what a web page says into the draft, beside its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import allows, member
from ieim.people.sessions import take_unsaved
from ieim.pipeline.stages.entry_drafting import FIELDS, LISTS
from ieim.studio.drafting.services import DraftingError
from ieim.studio.drafts import editing, sets
from ieim.studio.drafts.entries import column_values
from ieim.studio.drafts.history import shown
from ieim.studio.editor.addresses import edit_url
from ieim.studio.editor.forms import sentence
from ieim.studio.editor.presenters import card
from ieim.studio.labels import column_label
from ieim.studio.models import WebPage
from ieim.studio.webpages import accepting, headings, nearest, selectors
from ieim.studio.webpages.accepting import TABLES
from ieim.studio.webpages.passages import blocks
from ieim.studio.webpages.reading import Page

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

_BY: Mapping[str, StrPromise] = {
    "model": _("Drafted by a language model: look whether it left a condition out."),
    "headings": _("Drafted from the page’s headings, in its own words."),
    "data": _("Drafted from what the page says of itself as data."),
}
_LINK = '{} <a class="govuk-link" href="{}">{}</a>'
_Wrong = Mapping[str, Sequence[str]]


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
    kind, do, into = _kind(typed, stored), typed.get("do"), typed.get("into", "")
    if do not in ("take", "all"):
        return _shown(request, stored, typed)
    # Nothing that an entry has is overwritten that is not ticked.
    is_all = do == "all" and not into
    names = [n for n in FIELDS[kind] if is_all or n in typed.getlist("take")]
    extras = [(n, v) for n, v, *_ in _extras(stored) if do == "all" or v in typed.getlist(n)]
    seen = typed.get("version", "")
    is_elsewhere = stored.state == WebPage.State.TAKEN and into != stored.key
    try:
        if into != typed.get("compared", "") and not is_elsewhere:
            message = gettext("Compare the fields with those of the entry, and tick what you take.")
            raise DraftingError(message)
        entry = accepting.take(
            page_id=page,
            sha256=typed.get("sha256", ""),
            kind=kind,
            texts={name: typed.get(f"text-{name}", "") for name in names},
            by=by,
            into=into,
            version=int(seen) if seen.isdecimal() and len(seen) < 10 else None,
            categories=[
                *(value for name, value in extras if name == "category"),
                *typed.get("own-category", "").strip().splitlines(),
            ],
            questions=[value for name, value in extras if name == "question"],
            passages={n: typed.get(f"passage-{n}", "").splitlines() for n in names},
            address=typed.get("address", ""),
        )
    except (DraftingError, editing.OutOfScope) as error:
        return _shown(request, stored, typed, [str(error)])
    except editing.Stale as error:
        now = _page(request, page)
        if now.sha256 != typed.get("sha256"):
            hint = gettext("Nothing is saved. This is its new draft, beside what you had.")
            return _shown(request, now, None, [f"{error} {hint}"], had=typed)
        hint = gettext("Nothing is saved, and what you typed is still here: tick what to take.")
        return _shown(request, now, typed, [f"{error} {hint}"])
    except editing.Invalid as error:
        wrong = {n: [sentence(p.short) for p in row] for n, row in error.problems.items()}
        problems = [f"{column_label(name)}: {text}" for name, row in wrong.items() for text in row]
        return _shown(request, stored, typed, problems, wrong)
    message, size = gettext("“{name}” is in the draft.").format(name=entry), sets.working_size(by)
    drafted = _texts(_draft(stored, kind))
    left = (name for name in FIELDS[kind] if name not in names)
    typed_of = ((name, typed.get(f"text-{name}")) for name in left)
    if forgotten := [column_label(n) for n, t in typed_of if _differs(t, drafted.get(n, ""))]:
        warning = gettext("Not taken, because it was not ticked: {fields}.")
        message = f"{message} {warning.format(fields=', '.join(forgotten))}"
    label, url = gettext("Open the page again"), reverse("webpages:page", args=[page])
    if size:  # else what a colleague has begun has it
        url = reverse("knowledge:propose")
        label = ngettext(
            "{number} change in your change set: propose it",
            "{number} changes in your change set: propose them",
            size,
        ).format(number=size)
    return _next(request, stored, message, url, label, tags="saved")


@require_POST
def leave(request: HttpRequest, page: int, *, undo: bool = False) -> HttpResponse:
    """Leave a page and open the next one, or undo that; 422 if it says something else now."""
    stored = _page(request, page)
    try:
        sha256 = request.POST.get("sha256", "")
        accepting.leave(page_id=page, sha256=sha256, by=member(request), undo=undo)
    except editing.Stale as error:
        return _shown(request, _page(request, page), None, [str(error)])
    except DraftingError as error:
        messages.error(request, str(error))
    else:
        if not undo:
            message, label = gettext("The page is left."), gettext("Take it back")
            if stored.entry:
                message = gettext("“{name}” stays as it is.").format(name=stored.entry)
                label = gettext("Open the page again")
            return _next(request, stored, message, reverse("webpages:page", args=[page]), label)
    return redirect("webpages:page", page)


def _next(
    request: HttpRequest, stored: WebPage, message: str, url: str, label: str, *, tags: str = ""
) -> HttpResponse:
    """Redirect to the next page, with a message and a link."""
    messages.success(request, format_html(_LINK, message, url, label), extra_tags=tags)
    following = nearest.following(stored)
    return redirect("webpages:page", following.pk) if following else redirect("webpages:pages")


def _page(request: HttpRequest, pk: int) -> WebPage:
    return get_object_or_404(selectors.visible(member(request)).defer(None), pk=pk)


def _kind(typed: Mapping[str, Any], stored: WebPage) -> str:
    """Return the kind of the entry: of the one that it was taken into, else as somebody chose it,
    as it is drafted, or a service."""
    kinds: list[str] = [kind for kind, table in TABLES.items() if table == stored.table]
    kinds += [typed.get("kind", ""), stored.draft.get("kind", ""), "service"]
    return next(kind for kind in kinds if kind in TABLES)


def _extras(stored: WebPage) -> list[tuple[str, str, str, str]]:
    """Return the categories and questions of a draft: name and value in the form, text, language;
    a category without a key is a new one."""
    new, extras = gettext("{name} (new)"), []
    for key, name in ((row["key"], row["value"]) for row in stored.draft.get("categories", ())):
        extras.append(("category", key or name, name if key else new.format(name=name), ""))
    questions = stored.draft.get("questions", ())
    return extras + [("question", row["text"], row["text"], row["language"]) for row in questions]


def _shown(
    request: HttpRequest,
    stored: WebPage,
    typed: QueryDict | None,
    problems: Sequence[str] = (),
    wrong: _Wrong | None = None,
    had: Mapping[str, Any] | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {"page": stored, "problems": problems}
    kind = _kind(typed or request.GET, stored)
    draft = _draft(stored, kind)
    may_take = allows(request.user, "webpages:take")
    if may_take and stored.text and (typed or accepting.is_open(stored)):
        context |= _form(request, stored, kind, draft, typed, wrong or {})
        for field in context["fields"]:
            text = (had or {}).get(f"text-{field['name']}")
            field["had"] = text if _differs(text, field["text"]) else ""
    elif entry := nearest.entry_of(stored):
        values = column_values(entry)
        context["card"] = card(entry.table, values)
        context["rests_on"] = [
            (column_label(name), stored.rests_on.get(name, ()))
            for name in FIELDS[kind]
            if values.get(name)
        ]
    if request.headers.get("HX-Request"):
        return render(request, "studio/webpages/_accept.html#live", context)
    quotes = {row["field"]: row["quotes"] for row in draft.get("fields", ())}
    identity = [stored.agency, stored.key] if stored.table == "services" else [stored.key]
    context |= {
        "by": _BY.get(draft.get("by", "")) if draft.get("fields") else "",
        "is_web": accepting.is_web(stored),
        # Nothing can be taken of it.
        "is_lost": may_take and (stored.state == "gone" or not stored.text),
        "is_nothing": stored.state == "drafted" and stored.draft.get("kind") == "neither",
        "changes": [(column_label(field), *texts) for field, *texts in stored.changes],
        "next": nearest.following(stored) if may_take else None,
        "blocks": blocks(stored, stored.rests_on or quotes),
        "edit": edit_url(stored.table, identity),  # type: ignore[arg-type]  # a Table, or ""
    }
    status = 422 if problems else 200
    return render(request, "studio/webpages/page.html", context, status=status)


def _draft(stored: WebPage, kind: str) -> Mapping[str, Any]:
    """Return the draft of a page; of one that has none of a service what its headings say, where
    somebody makes a service of it."""
    draft: Mapping[str, Any] = stored.draft
    if kind != "service" or draft.get("kind") == kind:
        return draft
    page = Page(stored.title, stored.language, stored.text)
    return {**headings.entry_of(page), "by": "headings"}


def _texts(draft: Mapping[str, Any]) -> dict[str, str]:
    return {row["field"]: "\n".join(row["lines"]) for row in draft.get("fields", ())}


def _differs(typed: str | None, text: str) -> bool:
    """Whether something else was typed, however a browser ends lines."""
    return bool(typed and typed.split() != text.split())


def _form(
    request: HttpRequest,
    stored: WebPage,
    kind: str,
    draft: Mapping[str, Any],
    typed: QueryDict | None,
    wrong: _Wrong,
) -> dict[str, Any]:
    """Return what the template shows of the entry, as it was ``typed`` where that was sent."""
    texts = _texts(draft)
    entries, same, count = nearest.entries(stored, kind, texts.get("name", stored.title))
    near, others = dict([*entries.items()][:count]), dict([*entries.items()][count:])
    sent = QueryDict() if typed is None else typed
    is_taken = stored.state == WebPage.State.TAKEN
    into = same if typed is None or is_taken else sent.get("into", "")
    theirs = column_values(entries[into]) if into in entries else {}
    # Ticks that were given beside another entry say nothing of this one.
    is_compared = typed is not None and sent.get("compared", "") == into
    values = {"agency": stored.agency, "name": "", "path": "", "description": "", **theirs}
    if kind == "service":
        values |= accepting.link_of(stored, theirs.get("url", ""), sent.get("address", ""))
    fields = []
    for name in FIELDS[kind]:
        text, other = sent.get(f"text-{name}", texts.get(name, "")), shown(theirs.get(name))
        has_changed = any(name == row[0] for row in stored.changes)
        is_ticked = name in sent.getlist("take") if is_compared else has_changed or not other
        if is_ticked and text.strip():
            values[name] = text.splitlines() if name in LISTS else text
        field: dict[str, Any] = {"name": name, "label": column_label(name), "text": text}
        field |= {"theirs": other, "passage": sent.get(f"passage-{name}", "")}
        field |= {"is_ticked": is_ticked, "is_drafted": name in texts, "wrong": wrong.get(name)}
        fields.append(field | {"rows": min(12, 2 + text.count("\n") + len(text) // 70)})
    names, likely = nearest.categories(stored, near)
    version = entries[into].version if into in entries else ""
    # What a colleague saves meanwhile is told when it is taken.
    if is_compared and request.headers.get("HX-Request"):
        version = sent.get("version", "")
    return {
        "kind": kind,
        "fields": fields,
        "near": near,
        "others": others,
        "into": into,
        "version": version,
        # An entry that is there has its own.
        "category": sent.get("own-category", "" if typed or into else likely),
        "categories": names if kind == "service" else (),
        "address": sent.get("address", ""),
        "address_problems": wrong.get("url", ()),
        "extras": [(*e, typed is None or e[1] in sent.getlist(e[0])) for e in _extras(stored)],
        "card": card(TABLES[kind], values),
    }


urlpatterns = [
    path("<int:page>/", page, name="page"),
    path("<int:page>/take/", take, name="take"),
    path("<int:page>/leave/", leave, name="leave"),
    path("<int:page>/restore/", leave, {"undo": True}, name="restore"),
]

"""The pages of an agency's dictionary: its categories and services, merging, and splitting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote, unquote, urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from ieim.people.access import member
from ieim.people.scope import agencies_of
from ieim.studio.dictionary import services
from ieim.studio.dictionary.selectors import Section, sections_of
from ieim.studio.dictionary.services import Plan, Refused, newest_change
from ieim.studio.drafts import editing
from ieim.studio.editor.forms import sentence
from ieim.studio.models import Agency, Category, Change, DraftEntry
from ieim.studio.pages.presenters import choices, filtered_page

READ_OR_POST = require_http_methods(["GET", "HEAD", "POST"])


@READ_OR_POST
def home(request: HttpRequest) -> HttpResponse:
    """List the categories of an agency; sent, put the ticked services into another."""
    agencies, agency = _agencies(request)
    seen = newest_change()
    sections, into = sections_of(agency), request.POST.get("into", "")
    ticked = set(request.POST.getlist("service"))
    problems: Sequence[str] = ()
    if request.method == "POST":
        leaves: dict[str, list[str]] = {}
        for category, _, key in (box.partition("/") for box in sorted(ticked)):
            leaves.setdefault(unquote(key), []).extend([unquote(category)] if category else [])
        make = partial(services.plan_move, agency=agency, leaves=leaves, into=into)
        plan, problems = _carried_out(request, make)
        if not problems:
            message = ngettext(
                "{count} service is moved in the draft.",
                "{count} services are moved in the draft.",
                len(plan),
            )
            return _done(request, agency, message.format(count=len(plan)))
    names = [(row.key, _name(row)) for section in sections if (row := section.category)]
    shown = filtered_page(sections, request.GET, {"agency": agency}, total=len(sections))
    context = {
        "agencies": choices(agencies.items(), agency),
        "agency": agency,
        "list": shown,
        "sections": [_section_view(section, ticked) for section in shown.page.object_list],
        "categories": choices([("", gettext("Choose a category")), *names], into),
        "seen": seen,
        "problems": problems,
    }
    return render(request, "studio/dictionary/home.html", context, status=422 if problems else 200)


@READ_OR_POST
def merge(request: HttpRequest) -> HttpResponse:
    """Choose the category to merge into, and see what that does; sent, do it."""
    agency, category = _category(request)
    into = request.GET.get("into", "")
    make = partial(services.plan_merge, agency=agency, category=category.key, into=into)
    problems: Sequence[str] = ()
    if request.method == "POST":
        plan, problems = _carried_out(request, make)
        if not problems:
            message = gettext("“{category}” is merged into “{into}” in the draft.")
            names = {"category": _name(category), "into": _name(plan[0].entry)}
            return _done(request, agency, message.format(**names))
    seen = newest_change()
    others = [row for row in category.agency.categories.all() if row != category]
    target = next((row for row in others if row.key == into), None)
    plan = make() if target else ()
    words = [word for planned in plan[:1] for word in (planned.columns or {})["keywords"]]
    context = {
        "agency": agency,
        "category": category,
        "into": target,
        "others": choices(((row.key, _name(row)) for row in others), into),
        "keywords": [word for word in words if target and word not in target.keywords],
        "services": [planned.entry for planned in plan if planned.entry.table == "services"],
        "translations": services.lost_translations(plan),
        "seen": seen,
        "problems": problems,
    }
    return render(request, "studio/dictionary/merge.html", context, status=422 if problems else 200)


@READ_OR_POST
def split(request: HttpRequest) -> HttpResponse:
    """Choose services and keywords of a category, and name the new one; sent, do it."""
    agency, category = _category(request)
    value, key = (request.POST.get(name, "") for name in ("value", "key"))
    moved, keywords = (request.POST.getlist(name) for name in ("services", "keywords"))
    problems: Sequence[str] = ()
    if request.method == "POST":
        make = partial(
            services.plan_split,
            agency=agency,
            category=category.key,
            value=value,
            key=key,
            services=moved,
            keywords=keywords,
        )
        _, problems = _carried_out(request, make)
        if not problems:
            message = gettext("“{category}” is added to the draft.")
            return _done(request, agency, message.format(category=value))
    seen = newest_change()
    (section,) = (section for section in sections_of(agency) if section.category == category)
    context = {
        "value": value,
        "key": key,
        "agency": agency,
        "category": category,
        "services": [(row, row.key in moved) for row, _ in section.services],
        "keywords": [(word, word in keywords) for word in category.keywords],
        "seen": seen,
        "problems": problems,
    }
    return render(request, "studio/dictionary/split.html", context, status=422 if problems else 200)


def _carried_out(request: HttpRequest, make: Callable[[], Plan]) -> tuple[Plan, Sequence[str]]:
    """Carry out the plan that a form asks for; return it, and why that was not possible."""
    text = request.POST.get("seen", "")
    seen = int(text) if text.isdecimal() and len(text) < 10 else 0
    try:
        plan = make()
        services.carry_out(plan, seen=seen, by=member(request), source=Change.Source.ADMIN)
    except Refused as error:
        return (), error.reasons
    except (editing.Invalid, editing.Stale) as error:
        return (), [sentence(str(error))]
    return plan, ()


def _agencies(request: HttpRequest) -> tuple[Mapping[str, str], str]:
    """Return the names of the agencies of the account by id, and the id that the address names."""
    scope, rows = agencies_of(request.user), Agency.objects.values_list("pk", "name")
    names = {pk: name for pk, name in rows if scope is None or pk in scope}
    agency = request.GET.get("agency", next(iter(names), ""))
    if agency and agency not in names:
        raise Http404
    return names, agency


def _category(request: HttpRequest) -> tuple[str, Category]:
    """Return the agency and the category that the address names."""
    _, agency = _agencies(request)
    key = request.GET.get("category", "")
    rows = Category.objects.select_related("agency").filter(agency=agency)
    category = next((row for row in rows if row.key == key), None)
    if category is None:
        raise Http404
    return agency, category


def _section_view(section: Section, ticked: set[str]) -> dict[str, Any]:
    key = section.category.key if section.category else ""
    rows = [(service, count, _box(key, service.key)) for service, count in section.services]
    return {
        "category": section.category,
        "services": [(service, count, box, box in ticked) for service, count, box in rows],
    }


def _box(category: str, service: str) -> str:
    """Return the value of the box of a service within a category."""
    return f"{quote(category, safe='')}/{quote(service, safe='')}"


def _name(entry: DraftEntry) -> str:
    return str(getattr(entry, "value", "") or getattr(entry, "key", ""))


def _done(request: HttpRequest, agency: str, message: str) -> HttpResponse:
    messages.success(request, message)
    response = redirect(f"{reverse('dictionary:home')}?{urlencode({'agency': agency})}")
    response.status_code = 303
    return response


app_name = "dictionary"
urlpatterns = [
    path("", home, name="home"),
    path("merge/", merge, name="merge"),
    path("split/", split, name="split"),
]

"""Looking at what a release or the draft holds, and at what makes two of them differ."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from ieim.knowledge.models import Publication, Release
from ieim.knowledge.selectors import UnknownReleaseError, current_number
from ieim.knowledge.selectors import release as stored_release
from ieim.people.scope import agencies_of
from ieim.pipeline import knowledge
from ieim.studio.checks import Remark, Severity
from ieim.studio.drafts import kept as drafts
from ieim.studio.models import Agency, Service
from ieim.studio.pages import presenters, selectors
from ieim.studio.pages.filters import choices, chosen, listed
from ieim.studio.proposals.differences import differences as compared

DRAFT = "draft"


@never_cache
@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    """Every release, newest first."""
    rows = Release.objects.select_related("created_by").defer("content")
    rows = rows.prefetch_related("publications__published_by")
    page = Paginator(rows, 20).get_page(request.GET.get("page"))
    context = {"page": page, "current": current_number(), "query": ""}
    return render(request, "studio/pages/releases.html", context)


@never_cache
@require_safe
def release(request: HttpRequest, number: int) -> HttpResponse:
    """One release: where it comes from, and its services to read and search."""
    row = get_object_or_404(Release.objects.defer("content"), number=number)
    value = stored_release(number)
    names = presenters.agency_names(value)
    agencies = [("", gettext("All agencies")), *names.items()]
    agency = chosen(request.GET, "agency", (id_ for id_, _ in agencies))
    text = request.GET.get("q", "")[:200]
    found = selectors.release_services(value, text, agency)
    kept = {"q": text, "agency": agency}
    publications = Publication.objects.filter(release_id=number).select_related("published_by")
    context = {
        "release": row,
        "value": value,
        "current": current_number() == number,
        "publications": publications,
        "proposal": selectors.proposals().filter(release=row).last(),
        "agencies": choices(agencies, agency),
        "names": names,
        "text": text,
        "list": listed(found, request.GET, kept, total=len(value.services)),
    }
    return render(request, "studio/pages/release.html", context)


@never_cache
@require_safe
def services(request: HttpRequest) -> HttpResponse:
    """The services of the draft, to read, search and go on to edit."""
    names = dict(Agency.objects.values_list("pk", "name"))
    agencies = [("", gettext("All agencies")), *names.items()]
    agency = chosen(request.GET, "agency", (id_ for id_, _ in agencies))
    text = request.GET.get("q", "")[:200]
    found = selectors.draft_services(text, agency)
    kept = {"q": text, "agency": agency}
    context = {
        "agencies": choices(agencies, agency),
        "text": text,
        "list": listed(found, request.GET, kept, total=Service.objects.count()),
    }
    return render(request, "studio/pages/services.html", context)


@never_cache
@require_safe
def service(request: HttpRequest, number: int | None = None) -> HttpResponse:
    """One service as citizens see it: of release ``number``, else of the draft."""
    value = _release(DRAFT if number is None else str(number))
    agency, key = request.GET.get("agency", ""), request.GET.get("key", "")
    found = value.services.get((agency, key))
    if found is None or agency not in value.agencies:
        raise Http404("There is no such service here.")
    name = f"{agency} {key}"
    remark = Remark("", Severity.WARNING, "services", name, agency, "")
    urls = presenters.edit_urls([remark], agencies_of(request.user))
    context = {
        "number": number,
        "service": found,
        "agency": value.agencies[agency],
        "categories": [value.categories.get((agency, each)) for each in found.categories],
        "reply": presenters.answer(found, value.agencies[agency]),
        "edit": urls.get(("services", name), ""),
    }
    return render(request, "studio/pages/service.html", context)


@never_cache
@require_safe
def differences(request: HttpRequest) -> HttpResponse:
    """What makes one side of another: releases by number, or the draft."""
    numbers = [str(number) for number in Release.objects.values_list("number", flat=True)]
    of_number = gettext("Release {number}")
    sides = [
        (DRAFT, gettext("The draft")),
        *((number, of_number.format(number=number)) for number in numbers),
    ]
    known = [value for value, _ in sides]
    after = chosen(request.GET, "to", known) or DRAFT
    before = chosen(request.GET, "from", known) or str(current_number() or DRAFT)
    old, new = _release(before), _release(after)
    view = presenters.difference_list(
        compared(old, new),
        request.GET,
        names=presenters.agency_names(old, new),
        scope=agencies_of(request.user),
        kept={"from": before, "to": after},
    )
    context = {
        "differences": view,
        "from": choices(sides, before),
        "to": choices(sides, after),
        "before": _within(before),
        "after": _within(after),
        "clear": f"{reverse('knowledge:differences')}?from={before}&to={after}",
    }
    return render(request, "studio/pages/differences.html", context)


def _within(side: str) -> str:
    """Return what a side is called within a sentence."""
    if side == DRAFT:
        return gettext("the draft")
    return gettext("release {number}").format(number=side)


def _release(side: str) -> knowledge.Release:
    if side == DRAFT:
        return drafts.draft().release
    try:
        return stored_release(int(side))
    except UnknownReleaseError as error:
        raise Http404(str(error)) from error

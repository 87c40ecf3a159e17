"""The recall page: the answers that cite a service, and a correction for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from conversations.chat.presenters import CorrectionView
from conversations.chat.wording import words
from conversations.models import CorrectionNotice
from conversations.turns.languages import written_in
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.studio.labels import language_label, origin_label
from ieim.studio.recall import selectors, services

PAGE_SIZE = 50
MAX_SEARCH = 100
MAX_NOTICES = 10
EVERY, OTHER = "every", "not-"
_VERSION = re.compile(rf"(?:{OTHER})?[0-9a-f]{{64}}|{EVERY}|")


@dataclass(frozen=True, slots=True)
class Selection:
    """A service, and one of its versions, every one, or all but one, as an address has it."""

    service: selectors.Service
    version: str

    @property
    def query(self) -> str:
        service = self.service
        return urlencode(
            {"agency": service.agency, "service": service.key, "version": self.version}
        )

    @property
    def filters(self) -> dict[str, str]:
        """The arguments of :func:`selectors.answers` and :func:`services.confirm`."""
        filters = {"agency": self.service.agency, "service": self.service.key}
        if self.version.startswith(OTHER):
            return {**filters, "other": self.version.removeprefix(OTHER)}
        return filters if self.version == EVERY else {**filters, "version": self.version}


def _selection(data: Mapping[str, str], user: User) -> Selection:
    """Read an address or a form.

    Without a version it selects older ones, if answers cite any: the version in force is seldom
    the one that was wrong.

    Raises:
        Http404: An unknown service, or one of another agency.
    """
    agency, key = data.get("agency", ""), data.get("service", "")
    version = data.get("version", "")
    if not agency or not key or "\0" in agency + key or not _VERSION.fullmatch(version):
        raise Http404
    service = selectors.current_service(agency, key)
    if not works_for(user, agency) or not (
        service.in_force or selectors.answers(agency, key).exists()
    ):
        raise Http404
    return Selection(service, version or _older(agency, key) or EVERY)


def _older(agency: str, key: str) -> str:
    """Return the filter for all versions but the one in force, blank if no answer cites them."""
    current = selectors.current_version(agency, key)
    cited = current and selectors.answers(agency, key, other=current).exists()
    return f"{OTHER}{current}" if cited else ""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Find a service, or show the answers that cite one."""
    if "service" in request.GET:
        return _page(request, _selection(request.GET, member(request)))
    query = request.GET.get("q", "").replace("\0", "").strip()[:MAX_SEARCH]
    matches = selectors.search(member(request), query)
    return render(request, "studio/recall/home.html", {"query": query, "matches": matches})


@require_safe
def references(request: HttpRequest) -> StreamingHttpResponse:
    """Return the same answers as CSV."""
    citations = selectors.listed(**_selection(request.GET, member(request)).filters)
    return StreamingHttpResponse(
        selectors.as_csv(citations),
        headers={"Content-Disposition": 'attachment; filename="recall.csv"'},
        content_type="text/csv; charset=utf-8",
    )


@require_POST
def correct(request: HttpRequest) -> HttpResponse:
    """Show a correction as citizens will see it, or send it; 422 with what is wrong with it."""
    selection, text = _selection(request.POST, member(request)), request.POST.get("text", "")
    try:
        if "send" in request.POST:
            services.confirm(text=text, by=member(request), **selection.filters)
            return _see(selection.query)
        preview = "" if "change" in request.POST else services.text_of(text)
    except services.Refused as refused:
        return _page(request, selection, text=text, problem=str(refused))
    return _page(request, selection, text=text, preview=preview)


@require_POST
def resume(request: HttpRequest, notice: UUID) -> HttpResponse:
    """Resume the sending of a correction that was cut off."""
    row = CorrectionNotice.objects.filter(pk=notice).first()
    if row is None or not works_for(member(request), row.agency):
        raise Http404
    if row.sent_at is None:
        services.queue(notice_id=row.pk)
    return _see(urlencode({"agency": row.agency, "service": row.service}))


def _see(query: str) -> HttpResponse:
    return HttpResponseRedirect(f"{reverse('recall:home')}?{query}#corrections", status=303)


def _page(
    request: HttpRequest,
    selection: Selection,
    *,
    text: str = "",
    preview: str = "",
    problem: str = "",
) -> HttpResponse:
    agency, key = selection.service.agency, selection.service.key
    citations = selectors.listed(**selection.filters)
    page = Paginator(citations, PAGE_SIZE).get_page(request.GET.get("page"))
    notices = CorrectionNotice.objects.filter(agency=agency, service=key)
    context = {
        "selection": selection,
        "versions": selectors.versions(agency, key),
        "older": _older(agency, key),
        "page": page,
        "rows": [
            (row, language_label(row.reply.turn.language), origin_label(row.reply.origin))
            for row in page
        ],
        "notices": notices.annotate(delivered=Count("corrections"))[:MAX_NOTICES],
        "sending": notices.filter(sent_at=None).exists(),
        "text": text,
        "limit": services.MAX_TEXT,
        "problem": problem,
        "preview": preview,
        "corrections": [CorrectionView(preview, timezone.now(), language=written_in())],
        "wording": words(written_in()),
    }
    return render(request, "studio/recall/home.html", context, status=422 if problem else 200)


app_name = "recall"

urlpatterns = [
    path("", home, name="home"),
    path("answers.csv", references, name="references"),
    path("correct/", correct, name="correct"),
    path("corrections/<uuid:notice>/", resume, name="resume"),
]

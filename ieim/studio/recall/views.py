"""The pages of a recall: which answers used a service, and a correction for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import get_language_info, gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations.chat.presenters import CorrectionView
from conversations.chat.wording import words
from conversations.models import Citation, CorrectionNotice
from conversations.turns.languages import written_in
from ieim.people.access import member
from ieim.people.scope import works_for
from ieim.studio.labels import origin_label
from ieim.studio.recall import selectors, services
from ieim.studio.recall.selectors import Found, User

PAGE_SIZE = 50
LONGEST_SEARCH = 100
EARLIER = 10
"""How many corrections of a service the page lists, the last one first."""
EVERY, OTHER = "every", "not-"
_VERSION = re.compile(rf"(?:{OTHER})?[0-9a-f]{{64}}|{EVERY}|")


@dataclass(frozen=True, slots=True)
class Selection:
    """A service, and one of its versions (blank: any) or all but the version ``other``.

    ``turns`` are ticked answers, None: all.
    """

    service: Found
    version: str
    other: str
    turns: tuple[UUID, ...] | None = None

    @property
    def query(self) -> str:
        """The address's query string for the service and its versions."""
        values = {"agency": self.service.agency, "service": self.service.service}
        return urlencode({**values, "version": self.versions})

    @property
    def versions(self) -> str:
        """The versions as an address or a form has them."""
        return f"{OTHER}{self.other}" if self.other else self.version or EVERY

    @property
    def answers(self) -> QuerySet[Citation]:
        service = self.service
        found = selectors.answers(service.agency, service.service, self.version, self.other)
        return found if self.turns is None else found.filter(reply__turn__in=self.turns)

    @property
    def listed(self) -> QuerySet[Citation]:
        """The answers of these versions, ticked or not, for a list."""
        service = self.service
        return selectors.listed(service.agency, service.service, self.version, self.other)

    @property
    def count(self) -> int:
        return self.answers.count()


def selection(data: QueryDict, user: User) -> Selection:
    """Read an address or a form.

    Where it names no version, the answers from older ones are meant, where there are any: those
    from the version in force are seldom wrong in what that changed.

    Raises ``Http404`` for what there is not, or not for this user: an agency of others and a
    service that never was answer alike.
    """
    agency, service = data.get("agency", ""), data.get("service", "")
    version = data.get("version", "")
    if not agency or not service or "\0" in agency + service or not _VERSION.fullmatch(version):
        raise Http404
    if not works_for(user, agency):
        raise Http404
    found = selectors.name_of(agency, service)
    if not found.in_force and not selectors.answers(agency, service).exists():
        raise Http404
    turns = _turns(data.getlist("turn")) if data.get("who") == "ticked" else None
    if not version and (replacing := selectors.replaced_by(agency, service)):
        version = f"{OTHER}{replacing}"
    if version.startswith(OTHER):
        return Selection(found, "", version.removeprefix(OTHER), turns)
    return Selection(found, "" if version == EVERY else version, "", turns)


def _turns(typed: Sequence[str]) -> tuple[UUID, ...]:
    try:
        return tuple(map(UUID, typed))
    except ValueError as error:
        raise Http404 from error


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Pick a service."""
    words = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    found = selectors.search(member(request), words) if words else None
    return render(request, "studio/recall/home.html", {"words": words, "found": found})


@require_safe
def service(request: HttpRequest) -> HttpResponse:
    """The versions of a service, and the answers made from one of them, older ones or any."""
    chosen = selection(request.GET, member(request))
    agency, key = chosen.service.agency, chosen.service.service
    page = Paginator(chosen.listed, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "selection": chosen,
        "versions": selectors.versions(agency, key),
        "replaced": selectors.replaced_by(agency, key),
        "page": page,
        "rows": [_row(each) for each in page],
        "earlier": CorrectionNotice.objects.filter(agency=agency, service=key)[:EARLIER],
    }
    return render(request, "studio/recall/service.html", context)


def _row(each: Citation) -> dict[str, Any]:
    reply, turn = each.reply, each.reply.turn
    language = turn.language or gettext("not known")
    with suppress(KeyError):
        language = str(get_language_info(turn.language)["name_translated"])
    return {
        "turn": turn,
        "reply": reply,
        "how": origin_label(reply.origin),
        "language": language,
        "corrected": getattr(each, "corrected", False),
    }


@require_safe
def references(request: HttpRequest) -> StreamingHttpResponse:
    """The same answers as CSV."""
    rows = selection(request.GET, member(request)).listed.iterator(chunk_size=1000)
    return StreamingHttpResponse(
        selectors.as_csv(rows),
        headers={"Content-Disposition": 'attachment; filename="recall.csv"'},
        content_type="text/csv; charset=utf-8",
    )


@require_POST
def write(request: HttpRequest) -> HttpResponse:
    """Write a correction, and see it as citizens will; 422 with what is wrong with it."""
    chosen = selection(request.POST, member(request))
    problem = "" if chosen.count else gettext(services.NOBODY)
    if chosen.turns == ():
        problem = gettext("Tick the answers to correct, or choose all of them.")
    if problem or "text" not in request.POST or "again" in request.POST:
        return _form(request, chosen, problem)
    try:
        text = services.text_of(request.POST["text"])
    except services.Refused as refused:
        return _form(request, chosen, str(refused))
    context = {
        "selection": chosen,
        "count": chosen.count,
        "text": text,
        "corrections": [CorrectionView(text, timezone.now(), language=written_in())],
        "wording": words(written_in()),
        "versions": selectors.by_version(chosen.answers),
    }
    return render(request, "studio/recall/preview.html", context)


def _form(request: HttpRequest, chosen: Selection, problem: str) -> HttpResponse:
    context = {
        "selection": chosen,
        "count": chosen.count,
        "versions": selectors.by_version(chosen.answers),
        "text": request.POST.get("text", ""),
        "limit": services.MAX_TEXT,
        "problem": problem,
    }
    return render(request, "studio/recall/write.html", context, status=422 if problem else 200)


@require_POST
def send(request: HttpRequest) -> HttpResponse:
    """Confirm a correction: 303 to its progress; 422 where it is refused."""
    chosen = selection(request.POST, member(request))
    try:
        notice = services.confirm(
            agency=chosen.service.agency,
            service=chosen.service.service,
            version=chosen.version,
            other=chosen.other,
            turns=chosen.turns,
            text=request.POST.get("text", ""),
            by=member(request),
        )
    except services.Refused as refused:
        return _form(request, chosen, str(refused))
    return _see(notice)


@require_http_methods(["GET", "HEAD", "POST"])
def notice(request: HttpRequest, notice: UUID) -> HttpResponse:
    """The progress of a correction; a POST resumes one that was cut off."""
    found = CorrectionNotice.objects.select_related("created_by").filter(pk=notice).first()
    if found is None or not works_for(member(request), found.agency):
        raise Http404
    if request.method == "POST":
        if found.sent_at is None:
            services.queue(notice_id=found.pk)
        return _see(found)
    context = {
        "notice": found,
        "service": selectors.name_of(found.agency, found.service),
        "sent": found.corrections.count(),
        "corrections": [CorrectionView(found.text, found.created_at, language=written_in())],
        "wording": words(written_in()),
    }
    return render(request, "studio/recall/notice.html", context)


def _see(notice: CorrectionNotice) -> HttpResponse:
    return HttpResponseRedirect(reverse("recall:notice", args=[notice.pk]), status=303)


app_name = "recall"

urlpatterns = [
    path("", home, name="home"),
    path("service/", service, name="service"),
    path("service.csv", references, name="references"),
    path("write/", write, name="write"),
    path("send/", send, name="send"),
    path("corrections/<uuid:notice>/", notice, name="notice"),
]

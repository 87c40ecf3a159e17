"""The pages of a recall: which answers used a service, and a correction for them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language_info, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations.chat.presenters import CorrectionView
from conversations.chat.wording import words
from conversations.models import Citation, CorrectionNotice
from conversations.turns.languages import written_in
from ieim.people.access import member
from ieim.studio.labels import origin_label
from ieim.studio.recall import files, selectors, sending
from ieim.studio.recall.forms import Asked, asked

PAGE_SIZE = 50
LONGEST_SEARCH = 100
EARLIER = 10
"""How many corrections of a service the page lists, the last one first."""


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Pick a service."""
    words = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    found = selectors.search(member(request), words) if words else None
    return render(request, "studio/recall/home.html", {"words": words, "found": found})


@never_cache
@require_safe
def service(request: HttpRequest) -> HttpResponse:
    """The versions of a service, and the answers made from one of them, older ones or any."""
    wanted = asked(request.GET, member(request))
    agency, key = wanted.service.agency, wanted.service.service
    page = Paginator(wanted.listed, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "asked": wanted,
        "versions": selectors.versions(agency, key),
        "replaced": selectors.replaced_by(agency, key),
        "page": page,
        "rows": [_row(each) for each in page],
        "earlier": CorrectionNotice.objects.filter(agency=agency, service=key)[:EARLIER],
    }
    return render(request, "studio/recall/service.html", context)


@never_cache
@require_safe
def references(request: HttpRequest) -> StreamingHttpResponse:
    """The same answers as CSV."""
    wanted = asked(request.GET, member(request))
    return StreamingHttpResponse(
        files.lines(wanted.listed.iterator(chunk_size=1000)),
        headers={"Content-Disposition": 'attachment; filename="recall.csv"'},
        content_type="text/csv; charset=utf-8",
    )


@never_cache
@require_POST
def write(request: HttpRequest) -> HttpResponse:
    """Write a correction, and see it as citizens will; 422 with what is wrong with it."""
    wanted = asked(request.POST, member(request))
    problem = _nobody(wanted)
    if problem or "text" not in request.POST or "again" in request.POST:
        return _form(request, wanted, problem)
    try:
        text = sending.text_of(request.POST["text"])
    except sending.Refused as refused:
        return _form(request, wanted, refused.message)
    shown = [CorrectionView(text, timezone.now(), language=written_in())]
    context = {"asked": wanted, "count": wanted.count, "text": text, "corrections": shown}
    context["wording"] = words(written_in())
    context["versions"] = selectors.by_version(wanted.answers)
    return render(request, "studio/recall/preview.html", context)


@never_cache
@require_POST
def send(request: HttpRequest) -> HttpResponse:
    """Confirm a correction: 303 to where it can be seen going out; 422 where it is refused."""
    wanted = asked(request.POST, member(request))
    try:
        notice = sending.confirm(
            agency=wanted.service.agency,
            service=wanted.service.service,
            version=wanted.version,
            other=wanted.other,
            turns=wanted.turns,
            text=request.POST.get("text", ""),
            by=member(request),
        )
    except sending.Refused as refused:
        return _form(request, wanted, refused.message)
    return _see(notice)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notice(request: HttpRequest, notice: UUID) -> HttpResponse:
    """How far a correction is; a POST goes on with one that was cut off."""
    found = CorrectionNotice.objects.select_related("created_by").filter(pk=notice).first()
    if found is None or not selectors.may_see(member(request), found.agency):
        raise Http404
    if request.method == "POST":
        if found.sent_at is None:
            sending.queue(notice_id=found.pk)
        return _see(found)
    context = {
        "notice": found,
        "service": selectors.name_of(found.agency, found.service),
        "sent": found.corrections.count(),
        "corrections": [CorrectionView(found.text, found.created_at, language=written_in())],
        "wording": words(written_in()),
    }
    return render(request, "studio/recall/notice.html", context)


def _nobody(wanted: Asked) -> str:
    if wanted.turns == ():
        return gettext("Tick the answers to correct, or choose all of them.")
    return "" if wanted.count else gettext(sending.NOBODY)


def _form(request: HttpRequest, wanted: Asked, problem: str) -> HttpResponse:
    context = {
        "asked": wanted,
        "count": wanted.count,
        "versions": selectors.by_version(wanted.answers),
        "text": request.POST.get("text", ""),
        "limit": sending.MAX_TEXT,
        "problem": problem,
    }
    return render(request, "studio/recall/write.html", context, status=422 if problem else 200)


def _row(each: Citation) -> dict[str, Any]:
    reply, turn = each.reply, each.reply.turn
    return {
        "turn": turn,
        "reply": reply,
        "how": origin_label(reply.origin),
        "language": _language(turn.language),
        "corrected": getattr(each, "corrected", False),
    }


def _language(code: str) -> str:
    if not code:
        return gettext("not known")
    try:
        return str(get_language_info(code)["name_translated"])
    except KeyError:
        return code


def _see(notice: CorrectionNotice) -> HttpResponse:
    response = redirect("recall:notice", notice.pk)
    response.status_code = 303
    return response

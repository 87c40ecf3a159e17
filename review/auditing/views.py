"""The auditors' pages: whether the record is whole, events, a timeline, and a download."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.audit import exporting
from ieim.audit.canonical import JSONValue, instant
from ieim.audit.models import PEOPLE_CHAIN, AuditHead
from ieim.audit.selectors import EXPORTED, UnknownPlace
from ieim.audit.services import record
from ieim.people.access import member
from ieim.people.models import User
from review.auditing import presenters
from review.auditing.filters import Filters, whole_period
from review.queue.filters import BadAddress

_BATCH: Final = 500
"""Events of a download that are read at a time."""


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """How the record stands, and a list of events, the newest first.

    A conversation that is asked for alone leads to its timeline. 400 with the newest events and
    what is wrong where the address cannot be searched for.
    """
    params = request.GET.dict()
    try:
        filters = Filters.parse(params)
        wanted = filters.search()
        if filters.only_about and wanted.chain is not None and not wanted.naming:
            return redirect("audit:chain", wanted.chain)
        after, before = params.get("after", ""), params.get("before", "")
        shown = presenters.events_page(member(request), filters, after, before)
    except (BadAddress, UnknownPlace) as error:
        return _problem(request, error, params)
    return _events(request, shown, {"typed": filters})


@require_safe
def chain(request: HttpRequest, chain: UUID) -> HttpResponse:
    """What happened to a conversation, from its first event on."""
    if not AuditHead.objects.filter(pk=chain).exists():
        raise Http404
    after, before = request.GET.get("after", ""), request.GET.get("before", "")
    try:
        shown = presenters.timeline(member(request), chain, after, before)
    except UnknownPlace as error:
        raise Http404 from error
    return render(request, "review/auditing/timeline.html", {"page": shown})


@require_POST
def download(request: HttpRequest) -> HttpResponseBase:
    """The events of a period or of one chain, as the file that export_audit makes.

    That somebody took it is an event. 400 with the page where the period cannot be used.
    """
    of, since, until = None, None, None
    try:
        if "chain" in request.POST:
            of = UUID(request.POST["chain"])
            name = str(of)
        else:
            since, until = whole_period(request.POST.get("from", ""), request.POST.get("to", ""))
            name = f"{request.POST['from']}-to-{request.POST['to']}"
    except BadAddress as error:
        return _problem(request, error, request.POST.dict())
    except ValueError as error:
        raise Http404 from error
    keys = _taken(by=member(request), of=of, since=since, until=until)
    return StreamingHttpResponse(
        _lines(keys),
        headers={"Content-Disposition": f'attachment; filename="audit-{name}.jsonl"'},
        content_type="application/jsonl",
    )


@transaction.atomic
def _taken(
    *, by: User, of: UUID | None, since: datetime | None, until: datetime | None
) -> array[int]:
    """Record a download, and return the keys of its events, which stay what they are."""
    found = exporting.events(chain=of, since=since, until=until)
    keys = array("q", found.values_list("pk", flat=True).iterator(chunk_size=10_000))
    payload: dict[str, JSONValue] = {
        "chain": str(of) if of else None,
        "since": instant(since) if since else None,
        "until": instant(until) if until else None,
        "events": len(keys),
    }
    record(chain=PEOPLE_CHAIN, kind=EXPORTED, payload=payload, actor=by.actor)
    return keys


async def _lines(keys: array[int]) -> AsyncIterator[str]:
    """Yield the file piece by piece: no transaction is open while somebody's line is slow."""
    lines = sync_to_async(exporting.lines)
    for start in range(0, len(keys), _BATCH):
        yield await lines(keys[start : start + _BATCH])


def _problem(request: HttpRequest, error: Exception, typed: dict[str, str]) -> HttpResponse:
    if isinstance(error, UnknownPlace):
        error = BadAddress(
            gettext("There is no such page of the list. These are the newest."), "about"
        )
    shown = presenters.events_page(member(request), Filters(), "", "")
    fields = ("about", "kind", "who", "first", "last", "from", "to")
    again = {name: typed.get(name, "") for name in fields}
    return _events(request, shown, {"typed": again, "problem": error}, status=400)


def _events(
    request: HttpRequest, shown: dict[str, Any], context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    context |= {
        "page": shown,
        "standing": presenters.standing(),
        "choices": presenters.choices(),
        "today": timezone.localdate(),
    }
    return render(request, "review/auditing/events.html", context, status=status)


app_name = "audit"
urlpatterns = [
    path("", events, name="events"),
    path("download/", download, name="download"),
    path("<uuid:chain>/", chain, name="chain"),
]

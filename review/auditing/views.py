"""The auditors' pages: whether the record is whole, events, a timeline, and a download."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import transaction
from django.forms import Form
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
from ieim.audit.selectors import EXPORTED, InvalidCursor
from ieim.audit.services import record
from ieim.people.access import member
from ieim.people.models import User
from review.auditing import presenters
from review.auditing.forms import DownloadForm, SearchForm

_BATCH: Final = 500
"""Events of a download that are read at once."""
_FIELDS: Final = (*SearchForm.base_fields, "from", "to")


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """Show how the record stands, and a list of events, the newest first.

    A conversation that is asked for alone leads to its timeline. 400 with the newest events and
    what is wrong where the address cannot be searched for.
    """
    form = SearchForm(request.GET)
    if not form.is_valid():
        return _render_events(request, form=form)
    if chain := form.only_chain:
        return redirect("audit:chain", chain)
    try:
        page = presenters.events_page(member(request), form, *_cursors(request))
    except InvalidCursor:
        message = gettext("There is no such page of the list. These are the newest.")
        form.add_error("about", message)
        return _render_events(request, form=form)
    return _render_events(request, form=form, page=page)


@require_safe
def chain(request: HttpRequest, chain: UUID) -> HttpResponse:
    """Show what happened to a conversation, from its first event on."""
    if not AuditHead.objects.filter(pk=chain).exists():
        raise Http404
    try:
        page = presenters.timeline(member(request), chain, *_cursors(request))
    except InvalidCursor as error:
        raise Http404 from error
    return render(request, "review/auditing/timeline.html", {"page": page})


def _cursors(request: HttpRequest) -> tuple[str, str]:
    return request.GET.get("after", ""), request.GET.get("before", "")


@require_POST
def download(request: HttpRequest) -> HttpResponseBase:
    """Send the events of a period or of one chain, as the file that export_audit makes.

    An event records who took it. 400 with the page where the period cannot be used.
    """
    chain, since, until = None, None, None
    if "chain" in request.POST:
        try:
            chain = UUID(request.POST["chain"])
        except ValueError as error:
            raise Http404 from error
        name = str(chain)
    else:
        form = DownloadForm(request.POST)
        if not form.is_valid():
            return _render_events(request, form=form)
        since, until = form.period()
        name = f"{request.POST['from']}-to-{request.POST['to']}"
    keys = _record_download(by=member(request), chain=chain, since=since, until=until)
    return StreamingHttpResponse(
        _lines(keys),
        headers={"Content-Disposition": f'attachment; filename="audit-{name}.jsonl"'},
        content_type="application/jsonl",
    )


@transaction.atomic
def _record_download(
    *, by: User, chain: UUID | None, since: datetime | None, until: datetime | None
) -> array[int]:
    """Record a download, and return the primary keys of its events, which never change."""
    events = exporting.events(chain=chain, since=since, until=until)
    keys = array("q", events.values_list("pk", flat=True).iterator(chunk_size=10_000))
    payload: dict[str, JSONValue] = {
        "chain": str(chain) if chain else None,
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


def _render_events(
    request: HttpRequest, *, form: Form, page: dict[str, Any] | None = None
) -> HttpResponse:
    """Return the page of events; without ``page`` its form's errors beside the newest events."""
    problems = {name: messages[0] for name, messages in form.errors.items()}
    context = {
        "page": page or presenters.events_page(member(request), SearchForm({})),
        "typed": {name: form.data.get(name, "") for name in _FIELDS},
        "problems": problems,
        "status": presenters.record_status(),
        "choices": presenters.choices(),
        "today": timezone.localdate(),
    }
    return render(request, "review/auditing/events.html", context, status=400 if problems else 200)


app_name = "audit"
urlpatterns = [
    path("", events, name="events"),
    path("download/", download, name="download"),
    path("<uuid:chain>/", chain, name="chain"),
]

"""Pages of notes, mentions, putting an item away, and a conversation in order of time."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.people.access import member
from review import claims, reading, scope
from review.claims import ClaimRefused
from review.colleagues import selectors, services
from review.colleagues.models import MentionMail
from review.item.selectors import LoadedItem
from review.models import ReviewItem
from review.queue import filters as lists
from review.queue.filters import is_away
from review.queue.views import back

MORNING = 8
"""The hour at which an item that was put away for the day comes back."""


@require_POST
def note(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Store a note and show it: 303; with the text and why where it is refused."""
    text = request.POST.get("text", "")
    try:
        services.add_note(item_id=pk, actor=member(request), text=text)
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    except services.NoteRefused as refused:
        messages.error(request, str(refused))
        request.session[f"note-{pk}"] = text[: 2 * services.MAX_NOTE]
    return back(request, otherwise=f"{reverse('review:item', args=[pk])}#notes")


@require_POST
def snooze(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Put an item away and go to the list: 303; to the item where it is refused."""
    filters, until = lists.list_filters(request), _chosen_time(request)
    address = lists.item_address(pk, filters)
    try:
        if until is None:
            raise ClaimRefused(gettext("Choose a date and a time."))
        is_confirmed = request.POST.get("confirmed") == "1"
        claims.snooze(item_id=pk, actor=member(request), until=until, is_confirmed=is_confirmed)
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    except ClaimRefused as refused:
        messages.error(request, str(refused))
    else:
        address = lists.queue_address(filters)
        messages.success(request, gettext("The item is put away. It comes back by itself."))
    return back(request, otherwise=address)


def _chosen_time(request: HttpRequest) -> datetime | None:
    now = timezone.localtime()
    match request.POST.get("until"):
        case "hour":
            return now + timedelta(hours=1)
        case "tomorrow":
            day = now + timedelta(days=1)
            return day.replace(hour=MORNING, minute=0, second=0, microsecond=0)
    with suppress(ValueError):
        if (typed := parse_datetime(request.POST.get("at", ""))) is not None:
            return typed if timezone.is_aware(typed) else timezone.make_aware(typed)
    return None


@require_safe
def timeline(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show what happened in an item's conversation, in order of time; for htmx the list alone."""
    user = member(request)
    item = get_object_or_404(scope.visible(user).select_related("turn__session"), pk=pk)
    reading.record_read(item, user)
    part = "#entries" if request.headers.get("HX-Request") == "true" else ""
    context = {"item": item, "entries": selectors.timeline(item, user)}
    return render(request, f"review/colleagues/timeline.html{part}", context)


@require_http_methods(["GET", "HEAD", "POST"])
def mentions(request: HttpRequest) -> HttpResponse:
    """List the user's mentions; open one, which is read then, read all, or choose mails."""
    user = member(request)
    listed = selectors.mentions(user)
    if request.method == "POST":
        if "mail" in request.POST:
            services.set_mail(user=user, wanted=request.POST["mail"] == "yes")
        chosen = request.POST.get("open", "")
        if chosen.isdecimal() and len(chosen) < 19:
            mention = get_object_or_404(listed, pk=int(chosen))
            services.read_mentions(user=user, pk=mention.pk)
            return redirect(f"{reverse('review:item', args=[mention.note.item_id])}#notes")
        if "read" in request.POST:
            services.read_mentions(user=user)
        return redirect("review:mentions")
    wants_mail = MentionMail.objects.filter(user=user).exists()
    context = {"mentions": listed[: selectors.SHOWN], "wants_mail": wants_mail}
    return render(request, "review/colleagues/mentions.html", context)


def item_context(request: HttpRequest, loaded: LoadedItem) -> dict[str, Any]:
    """Return what an item's page shows of colleagues; ``draft`` is a note that was refused."""
    item = loaded.item
    away = item.snoozed_until is not None and item.decided_at is None
    return {
        "notes": selectors.notes([item, *loaded.others]),
        "viewers": scope.viewers(item),
        "draft": request.session.pop(f"note-{item.pk}", ""),
        "snoozed": away and ReviewItem.objects.filter(is_away(timezone.now()), pk=item.pk).exists(),
    }

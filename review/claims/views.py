"""Claiming one item, and giving it back: the same addresses for the queue and the item page."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import member
from review.claims import services as claims
from review.claims.services import ClaimRefused, ClaimTaken
from review.models import ReviewItem
from review.queue import lists
from review.queue import presenters as queue_presenters
from review.queue.views import back
from review.scope import reach


@never_cache
@require_POST
def claim(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Claim an item and open it."""
    return _answer(request, pk, claims.claim)


@never_cache
@require_safe
def held(request: HttpRequest, pk: UUID) -> HttpResponse:
    """204 while the person has the item, 409 when not: the open page asks every few seconds."""
    user = member(request)
    item = get_object_or_404(reach.visible(user), pk=pk)
    return HttpResponse(status=204 if claims.holds(item, user, timezone.now()) else 409)


@never_cache
@require_POST
def renew(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Let a claim hold for longer: the item page asks for it while it is open."""
    return _answer(request, pk, claims.renew)


@never_cache
@require_POST
def release(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Give a claim back and go to the queue."""
    return _answer(request, pk, claims.release, to_queue=True)


@never_cache
@require_POST
def take_over(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Claim an item whoever has it, and open it."""
    return _answer(request, pk, claims.take_over)


def _answer(
    request: HttpRequest, pk: UUID, change: Callable[..., ReviewItem], *, to_queue: bool = False
) -> HttpResponse:
    """Change a claim and say so: htmx gets the fragment, 409 with the reason where it fails."""
    problem, item = "", None
    try:
        item = change(item_id=pk, actor=member(request))
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    except ClaimTaken as taken:
        problem = str(taken)
    except ClaimRefused as refused:
        problem = refused.message
    if request.headers.get("HX-Request") == "true":
        live = item and queue_presenters.live(item, pk, member(request), timezone.now())
        context = {"live": live, "item": item, "problem": problem}
        return render(request, "review/queue/claim.html", context, status=409 if problem else 200)
    if problem:
        messages.error(request, problem)
    filters = lists.carried(request)
    address = lists.queue_address(filters) if to_queue else lists.item_address(pk, filters)
    return back(request, otherwise=address)

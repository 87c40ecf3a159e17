"""The queue: what waits for a person, and what is done with several items at once."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from review import bulk as bulk_actions
from review import claims, queue_presenters, saved_views, selectors
from review.bulk import NotDone
from review.paging import UnknownPage
from review.queue_page import news, queue_page
from review.searching import Filters, UnknownFilter

may_see = permission_required("review.view_reviewitem", raise_exception=True)
may_decide = permission_required(claims.DECIDE, raise_exception=True)
MOST_SHOWN = 2 * selectors.PAGE_SIZE


@never_cache
@require_safe
@login_required
@may_see
def queue(request: HttpRequest) -> HttpResponse:
    """A list of items, what is most urgent first.

    400 with the list as it is without filters where the address asks for what there is not.
    """
    params, problem, now = request.GET.dict(), "", timezone.now()
    try:
        shown = queue_page(user_of(request), Filters.parse(params), params, now)
    except (UnknownFilter, UnknownPage) as error:
        problem = queue_presenters.problem(error)
        shown = queue_page(user_of(request), Filters(), {}, now)
    context = {"queue": shown, "problem": problem}
    return render(request, "review/queue.html", context, status=400 if problem else 200)


@never_cache
@require_safe
@login_required
@may_see
def changes(request: HttpRequest) -> HttpResponse:
    """What has changed on a page of the queue that is open; 204 where nothing has."""
    params = request.GET.dict()
    try:
        shown = [UUID(pk) for pk in params.get("shown", "").split(",")[:MOST_SHOWN] if pk]
        filters = Filters.parse(params)
        found = news(user_of(request), filters, params, shown, timezone.now())
    except ValueError:
        return HttpResponse("This is no page of the queue.", status=400, content_type="text/plain")
    if found.digest == params.get("known"):
        return HttpResponse(status=204)
    return render(request, "review/queue_changes.html", {"news": found})


@never_cache
@require_POST
@login_required
@may_decide
def bulk(request: HttpRequest) -> HttpResponse:
    """Claim, assign or dismiss the chosen items, and say what became of each."""
    try:
        said = bulk_actions.carry_out(user_of(request), request.POST)
    except NotDone as refused:
        messages.error(request, refused.message)
    else:
        for sentence in said.done:
            messages.success(request, sentence)
        for sentence in said.not_done:
            messages.warning(request, sentence)
    # Not "next": the same form's button for one item leads to that item.
    return back(request, field="queue")


@never_cache
@require_POST
@login_required
@may_see
def save_view(request: HttpRequest) -> HttpResponse:
    """Keep filters under a name, or rename the view that has them, or delete a view."""
    name = request.POST.get("name", "")
    try:
        if "delete" in request.POST:
            saved_views.delete(owner=user_of(request), name=name)
            messages.success(request, f"The view “{name}” is deleted.")
        else:
            view = saved_views.save(
                owner=user_of(request), name=name, query=request.POST.get("query", "")
            )
            messages.success(request, f"The view “{view.name}” is saved.")
    except saved_views.NotSaved as refused:
        messages.error(request, refused.message)
    return back(request)


def user_of(request: HttpRequest) -> AbstractUser:
    """Return who asks; the view lets nobody in who is not logged in."""
    return cast(AbstractUser, request.user)


def back(request: HttpRequest, *, field: str = "next", otherwise: str = "") -> HttpResponse:
    """Lead to the page of ours that the form names in ``field``, or else to the queue."""
    wanted = request.POST.get(field, "")
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    response = redirect(wanted if ours else otherwise or reverse("review:queue"))
    response.status_code = 303
    return response

"""Views of the queue: its page, claims, bulk actions and saved views."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import member
from ieim.people.reading import record_listed
from review import reading, scope
from review.claims import ClaimRefused
from review.just_decided import just_decided
from review.models import ReviewItem
from review.queue import filters as lists
from review.queue import presenters, selectors, services
from review.queue.filters import BadAddress, ItemFilter
from review.queue.presenters import news, queue_page
from review.queue.selectors import UnknownPage
from review.queue.services import NotDone
from review.saved_views import services as saved_views

MAX_SHOWN = 2 * selectors.PAGE_SIZE
_UNSENT_FORM = "review-bulk"
"""The session key of a form that changed nothing, until the list shows it again."""


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """Show a list of items, the most urgent first.

    400 with an error and the list without filters where the filters cannot be used.
    """
    params, problem, now = request.GET.dict(), "", timezone.now()
    try:
        page = queue_page(member(request), ItemFilter.parse(params), params, now)
    except (BadAddress, UnknownPage) as error:
        problem = str(error)
        page = queue_page(member(request), ItemFilter(), {}, now)
    rows = (row["id"] for group in page["groups"] for row in group["rows"])
    record_listed(reading.LISTED, "items", rows, member(request))
    if presenters.FACETS in params and request.headers.get("HX-Request") == "true":
        return render(request, "review/queue/_parts.html#facets", {"queue": page})
    context = {
        "queue": page,
        "problem": problem,
        "form": request.session.pop(_UNSENT_FORM, None),
        "just": just_decided(request, page["filters"]),
        "list": page["filters"].query,
    }
    return render(request, "review/queue/queue.html", context, status=400 if problem else 200)


@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    """Return the changes of an open page of the queue; 204 for none."""
    params = request.GET.dict()
    try:
        shown_ids = [UUID(pk) for pk in params.get("shown", "").split(",")[:MAX_SHOWN] if pk]
        filters = ItemFilter.parse(params)
        context = news(member(request), filters, params, shown_ids, timezone.now())
    except ValueError:
        return HttpResponse(
            gettext("This is no page of the queue."), status=400, content_type="text/plain"
        )
    if context["digest"] == params.get("known"):
        return HttpResponse(status=204)
    return render(request, "review/queue/_parts.html#changes", {"news": context})


@require_POST
def bulk(request: HttpRequest) -> HttpResponse:
    """Claim or assign the chosen items.

    Where nothing was changed, the list shows the form as it was sent.
    """
    try:
        done, not_done = services.act_on_items(member(request), request.POST)
    except NotDone as refused:
        done, not_done = "", []
        messages.error(request, str(refused))
    if done:
        messages.success(request, done)
    for sentence in not_done:
        messages.warning(request, sentence)
    if not done:
        request.session[_UNSENT_FORM] = {
            "chosen": request.POST.getlist("item")[: services.MAX_ITEMS],
            "to": request.POST.get("to", ""),
        }
    # Not "next": the same form's button for one item leads to that item.
    return back(request, field="queue")


@require_POST
def save_view(request: HttpRequest) -> HttpResponse:
    """Save filters under a name, rename the view that has them, or delete a view."""
    name, pk, user = request.POST.get("name", ""), request.POST.get("view", ""), member(request)
    try:
        if "delete" in request.POST:
            saved_views.delete_view(actor=user, pk=pk)
            messages.success(request, gettext("The view “{name}” is deleted.").format(name=name))
        else:
            view = saved_views.save_view(
                actor=user,
                name=name,
                query=request.POST.get("query", ""),
                shared_with=request.POST.get("shared_with", ""),
                pk=pk,
            )
            messages.success(request, gettext("The view “{name}” is saved.").format(name=view.name))
    except NotDone as refused:
        messages.error(request, str(refused))
    return back(request)


def back(request: HttpRequest, *, field: str = "next", otherwise: str = "") -> HttpResponse:
    """Redirect to the page of this site that ``field`` names, or else to the queue."""
    address = request.POST.get(field, "")
    is_safe = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    url = address if is_safe else otherwise or reverse("review:queue")
    return HttpResponseRedirect(url, status=303)


@require_safe
def claim_status(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return 204 while the user has the item, 409 when not; an open page polls it."""
    user = member(request)
    item = get_object_or_404(scope.visible(user), pk=pk)
    return HttpResponse(status=204 if item.holder(timezone.now()) == user else 409)


@require_POST
def claim(
    request: HttpRequest, pk: UUID, change: Callable[..., ReviewItem], *, to_queue: bool = False
) -> HttpResponse:
    """Change a claim (what the address is for), and open the item, or go ``to_queue``.

    htmx gets the fragment, 409 with the reason where it fails.
    """
    problem, item = "", None
    try:
        item = change(item_id=pk, actor=member(request))
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    except ClaimRefused as refused:
        problem = str(refused)
    if request.headers.get("HX-Request") == "true":
        live = item and presenters.live(item, pk, member(request), timezone.now())
        context = {"live": live, "item": item, "problem": problem}
        return render(
            request, "review/queue/_parts.html#claim", context, status=409 if problem else 200
        )
    if problem:
        messages.error(request, problem)
    filters = lists.list_filters(request)
    address = lists.queue_address(filters) if to_queue else lists.item_address(pk, filters)
    return back(request, otherwise=address)

"""The staff pages: the queue, and one item to read."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required, permission_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from review import presenters, selectors
from review.models import ReviewItem

PAGE_SIZE = 25


@never_cache
@require_safe
@login_required
@permission_required("review.view_reviewitem", raise_exception=True)
def queue(request: HttpRequest) -> HttpResponse:
    """What waits for a person, what comes first first; a page that is not there is the nearest."""
    page = Paginator(selectors.queue(), PAGE_SIZE).get_page(request.GET.get("page"))
    rows = [presenters.queue_row(item) for item in page]
    return render(request, "review/queue.html", {"page": page, "rows": rows})


@never_cache
@require_safe
@login_required
@permission_required("review.view_reviewitem", raise_exception=True)
def item(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Why one turn stopped, beside the citizen's message."""
    try:
        found = selectors.item(pk)
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    return render(request, "review/item.html", {"item": presenters.item_view(found)})

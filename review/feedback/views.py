"""The list of what citizens said of answers, and an item made of it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from conversations.models import Feedback
from ieim.people.access import member
from review.feedback import selectors, services

PAGE = 50


@never_cache
@require_safe
def feedback(request: HttpRequest) -> HttpResponse:
    """What citizens said of answers that had no item, or of all of them."""
    every = request.GET.get("show") == "all"
    said = selectors.listed(member(request), with_items=every)
    page = Paginator(said, PAGE).get_page(request.GET.get("page"))
    rows = [selectors.view(each) for each in page]
    context = {"page": page, "rows": rows, "every": every}
    return render(request, "review/feedback/feedback.html", context)


@require_POST
def make_item(request: HttpRequest) -> HttpResponse:
    """Make an item of what was said of one answer, and go there."""
    try:
        turn_id = UUID(request.POST.get("turn", ""))
    except ValueError:
        messages.error(
            request, gettext("Say which one: press the button beside what a citizen said.")
        )
        return redirect("review:feedback")
    try:
        item = services.make_item(turn_id=turn_id, by=member(request))
    except Feedback.DoesNotExist as error:
        raise Http404 from error
    messages.success(
        request, gettext("It is an item now. The citizen has an answer: nothing waits for it.")
    )
    return redirect("review:item", pk=item.pk)
